import { CHECK_RUNTIME } from './checks/command-adapter.ts';
import type { Composition } from './compose.ts';
import { isRegistered } from '../model/runtime-name.ts';
import type { RunDefinition } from '../model/run.ts';
import type { AgentRuntime } from '../runtimes/port/agent-runtime.ts';
import { runtimeChoice } from './runtime-choice.ts';

/** Makes each runtime once. `check` runs the commands of the user or the repository. */
export function createRuntimes(
  ports: Pick<Composition, 'runtime' | 'runtimes' | 'checkRuntime'>,
  definition: RunDefinition,
): (name: string) => AgentRuntime | undefined {
  const made = new Map<string, AgentRuntime>();
  const make = (name: string): AgentRuntime | undefined => {
    if (name === CHECK_RUNTIME) return ports.checkRuntime();
    return isRegistered(ports.runtimes, name)
      ? ports.runtime(name, runtimeChoice(definition.runtimes, name))
      : undefined;
  };
  return (name) => {
    const runtime = made.get(name) ?? make(name);
    if (runtime !== undefined) made.set(name, runtime);
    return runtime;
  };
}

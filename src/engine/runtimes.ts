import type { Composition } from '../compose.ts';
import type { RunDefinition } from '../model/run.ts';
import { RUNTIME_NAMES } from '../model/runtime-name.ts';
import { runtimeChoice } from '../preflight/runtimes.ts';
import type { AgentRuntime } from '../runtimes/port/agent-runtime.ts';

/** Makes each runtime once. `check` runs the commands of the user or the repository. */
export function createRuntimes(
  ports: Pick<Composition, 'runtime' | 'checkRuntime'>,
  definition: RunDefinition,
): (name: string) => AgentRuntime | undefined {
  const made = new Map<string, AgentRuntime>();
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const own = RUNTIME_NAMES.find((candidate) => candidate === name);
    const runtime =
      name === 'check'
        ? ports.checkRuntime()
        : own === undefined
          ? undefined
          : ports.runtime(own, runtimeChoice(definition.runtimes, own));
    if (runtime !== undefined) made.set(name, runtime);
    return runtime;
  };
}

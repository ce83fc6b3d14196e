import { variablesOf } from './equip.ts';
import type { BoundAgent } from './run.ts';
import type { Settings } from './settings.ts';

/** Settings, or the stored settings of a run with its agents. */
interface LetsThrough extends Pick<Settings, 'runtimes' | 'tracing' | 'setup' | 'verify'> {
  readonly env?: readonly string[] | undefined;
  readonly agents?: readonly Pick<BoundAgent, 'env' | 'mcp'>[] | undefined;
}

/** The environment variables that this repository passes by name to commands, agents, their servers and the endpoint of its traces. */
export function letThroughBy({ runtimes, agents = [], tracing, ...commands }: LetsThrough): readonly string[] {
  const ofRuntimes = Object.values(runtimes).flatMap(({ env }) => env);
  const ofAgents = [...ofRuntimes, ...agents.flatMap(variablesOf)];
  return [...ofAgents, ...commandVariables(commands), ...Object.values(tracing?.headers ?? {})];
}

/** The variables that commands of `setup`, `verify` and criteria get, each once. */
export function commandVariables({ env = [], setup, verify }: Pick<LetsThrough, 'env' | 'setup' | 'verify'>): string[] {
  return [...new Set([...env, ...[...setup, ...verify].flatMap((step) => step.env ?? [])])];
}

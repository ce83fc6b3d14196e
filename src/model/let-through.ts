import { variablesOf } from './equip.ts';
import type { BoundAgent } from './run.ts';
import type { Settings } from './settings.ts';

/** Settings, or the stored settings of a run with its agents. */
interface LetsThrough extends Pick<Settings, 'runtimes' | 'tracing'> {
  readonly agents?: readonly Pick<BoundAgent, 'env' | 'mcp'>[] | undefined;
}

/** The environment variables that this repository passes to its agents, their servers and the endpoint of its traces by name. */
export function letThroughBy({ runtimes, agents = [], tracing }: LetsThrough): readonly string[] {
  const ofRuntimes = Object.values(runtimes).flatMap(({ env }) => env);
  return [...ofRuntimes, ...agents.flatMap(variablesOf), ...Object.values(tracing?.headers ?? {})];
}

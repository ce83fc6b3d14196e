import type { RunDefinition } from '../../../src/model/run.ts';
import type { Cue } from '../world/simulated-agents.ts';
import type { Stage } from '../world/stage.ts';
import type { WorldRecord } from './record.ts';
import type { People } from './strangers.ts';
import type { Weather } from './weather.ts';

/** Who and what a world is made of. */
export interface Troupe {
  readonly seed: number;
  readonly weather: Weather;
  readonly stage: Stage;
  readonly record: WorldRecord;
  readonly definition: Omit<RunDefinition, 'repository'>;
  readonly people: People;
}

export function agentOf({ request }: Cue): string {
  return /^You are ([\w-]+)\./.exec(request.instructions)?.[1] ?? '';
}

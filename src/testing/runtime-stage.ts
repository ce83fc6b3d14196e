import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessIdentity } from '../model/process-identity.ts';
import type { TurnEvent } from '../model/turn-event.ts';
import type { TurnRequest } from '../model/turn-request.ts';
import type { TurnResult } from '../model/turn-result.ts';
import type { Turn } from '../runtimes/port/agent-runtime.ts';
import type { RuntimeBench, ScenarioName } from './runtime-scenarios.ts';

/** The test runner's own functions, so that any runner can run the suite. */
export interface TestRunner {
  describe(title: string, body: () => void): void;
  it(title: string, body: () => Promise<void>, timeoutMs: number): void;
  skip(title: string): void;
}

/** One promise of the port. `check` throws with a sentence when it is broken. */
export interface RuntimeCase {
  readonly title: string;
  readonly scenario: ScenarioName;
  check(stage: Stage): Promise<void>;
}

/** What a case works with: the bench and the few verbs that every case needs. */
export interface Stage {
  readonly bench: RuntimeBench;
  readonly failureBoundMs: number;
  request(changes?: Partial<TurnRequest>): TurnRequest;
  /** Starts a turn and waits for its process to be let go. */
  start(request: TurnRequest): Promise<Started>;
  /** Starts a turn and waits for its end. */
  run(request: TurnRequest): Promise<Ended>;
}

export interface Started {
  readonly turn: Turn;
  readonly directory: string;
  readonly events: TurnEvent[];
  /** undefined: the turn was refused before anything was spawned. */
  readonly identity: ProcessIdentity | undefined;
  readonly spawnedAt: number;
  readonly request: TurnRequest;
}

export interface Ended extends Started {
  readonly result: TurnResult;
  readonly tookMs: number;
}

/** For cases: fails with a sentence and the evidence. */
export function insist(holds: boolean, sentence: string, evidence?: unknown): asserts holds {
  if (!holds)
    throw new Error(evidence === undefined ? sentence : `${sentence}: ${JSON.stringify(evidence)?.slice(0, 2000)}`);
}

/** For cases: a file of the workspace, or undefined. */
export async function readWorkspaceFile(bench: RuntimeBench, name: string): Promise<string | undefined> {
  try {
    return await readFile(join(bench.workspace.path, name), 'utf8');
  } catch {
    // Absent is an answer here.
    return undefined;
  }
}

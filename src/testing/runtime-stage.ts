import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessIdentity } from '../model/process-identity.ts';
import type { SessionRef } from '../model/session-ref.ts';
import type { TurnEvent } from '../model/turn-event.ts';
import type { TurnRequest } from '../model/turn-request.ts';
import type { TurnResult } from '../model/turn-result.ts';
import type { Turn } from '../runtimes/port/agent-runtime.ts';
import type { ConversationScenario, RuntimeBench, ScenarioName } from './runtime-scenarios.ts';

/** Functions of a test runner, so that any runner can run the suite. */
export interface TestRunner {
  describe(title: string, body: () => void): void;
  it(title: string, body: () => Promise<void>, timeoutMs: number): void;
  skip(title: string): void;
}

/** One promise of the port. `check` throws an error with a sentence if it is broken. */
export interface RuntimeCase<Scenario extends string = ScenarioName> {
  readonly title: string;
  readonly scenario: Scenario;
  check(stage: Stage): Promise<void>;
}

/** A promise that only a conversation can keep or break. */
export type ConversationCase = RuntimeCase<ConversationScenario>;

/** The bench and the actions that every case needs. */
export interface Stage {
  readonly bench: RuntimeBench;
  readonly failureBoundMs: number;
  request(changes?: Partial<TurnRequest>): TurnRequest;
  /** Starts a turn and waits until its process is released, or the turn is over. */
  start(request: TurnRequest): Promise<Started>;
  /** Starts a turn and waits for its result. */
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

/** Throws an error with the sentence and the evidence unless the condition holds. */
export function insist(holds: boolean, sentence: string, evidence?: unknown): asserts holds {
  if (!holds)
    throw new Error(evidence === undefined ? sentence : `${sentence}: ${JSON.stringify(evidence)?.slice(0, 2000)}`);
}

/** A file of the workspace; undefined if it is missing. */
export async function readWorkspaceFile(bench: RuntimeBench, name: string): Promise<string | undefined> {
  return readFile(join(bench.workspace.path, name), 'utf8').catch(() => undefined);
}

export function completed(end: Ended): void {
  const { outcome, failure } = end.result;
  insist(outcome === 'completed' && failure === undefined, 'the turn did not complete', end.result);
}

/** Runs a turn that must complete. */
export async function runToEnd(stage: Stage, changes?: Partial<TurnRequest>): Promise<Ended> {
  const end = await stage.run(stage.request(changes));
  completed(end);
  return end;
}

/** Runs a turn that must be refused for this setting before anything is spawned. */
export async function runRefused(stage: Stage, setting: string, changes: Partial<TurnRequest>): Promise<void> {
  const runtime = stage.bench.runtime();
  const request = stage.request(changes);
  const before = await runtime.refusal?.(request);
  insist(runtime.refusal === undefined || before?.setting === setting, 'the refusal is not known before', before);
  const end = await stage.run(request);
  insist(end.result.outcome === 'refused', 'the turn was not refused', end.result);
  insist(end.result.failure?.setting === setting, 'the setting is not named', end.result);
  insist(end.identity === undefined, 'a process was spawned');
}

/** Runs a first turn and returns its session. */
export async function openSession(stage: Stage): Promise<{ first: Ended; session: SessionRef }> {
  const first = await stage.run(stage.request());
  const { session } = first.result;
  insist(session !== undefined, 'there is no session to resume', first.result);
  return { first, session };
}

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attempt } from '../model/attempt.ts';
import { SquadError } from '../model/errors.ts';
import type { Failure } from '../model/failure.ts';
import type { Json } from '../text/json.ts';
import { createRedactor, type Redactor } from '../model/redaction/redactor.ts';
import type { ProcessIdentity } from '../model/process-identity.ts';
import type { TurnEvent } from '../model/turn-event.ts';
import { isStorageError, storageError } from '../model/storage-error.ts';
import { turnRequestSchema, type TurnRequest } from '../model/turn-request.ts';
import type { TurnResult } from '../model/turn-result.ts';
import type { AgentRuntime, Turn } from '../runtimes/port/agent-runtime.ts';
import { failpoint } from '../substrate/failpoint.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import type { Processes } from '../substrate/ports/processes.ts';
import { redactTurn } from './redact-turn.ts';
import { collectToolErrors, withToolErrors } from './tool-errors.ts';

export type AttemptStart = 'started' | 'started-again' | 'attached';

export interface AttemptPorts {
  readonly ledger: Ledger;
  readonly processes: Processes;
  /** Takes out of events and results what must not be stored; without it only what looks like a credential. */
  readonly redactor?: Redactor;
  /** undefined: no such runtime is configured. */
  runtime(name: string): AgentRuntime | undefined;
  /** `.squad/turns`: one folder per attempt. */
  readonly turnsDirectory: string;
  /**
   * The request as it goes to the runtime, for attempts whose workspace is made when they start. A failure ends the attempt
   * as refused, before anything is spawned. Called for attempts that are attached to as well; then it only names things.
   */
  prepare?(attempt: Attempt, request: TurnRequest, fresh: boolean): Promise<Prepared>;
  /** Makes what only the process of this attempt may find in its folder; called once for each process. */
  beforeSpawn?(attempt: Attempt, directory: string): Promise<void>;
  onEvent?(attemptId: string, event: TurnEvent): void;
  /** The ledger has its process. */
  onStarted?(attemptId: string, how: AttemptStart): void;
  onSettled?(attemptId: string, result: TurnResult): void;
  /** It can be carried no further here: the machine is broken, or this engine was fenced. It stays unsettled. */
  onBroken?(attemptId: string, error: unknown): void;
}

export type Prepared =
  | { readonly type: 'ready'; readonly request: TurnRequest }
  | { readonly type: 'refused'; readonly failure: Failure };

/**
 * A live turn for an unsettled attempt. Spawned before: attached to, whatever became of its process. Claimed by a former
 * engine that died before it had committed a process: no agent can have run (it waits for that commit), so the leftovers
 * are swept and the same attempt starts again, at no cost to its budget.
 */
export async function startAttempt(ports: AttemptPorts, lease: Lease, attempt: Attempt): Promise<Turn> {
  const observe = observer(ports, lease, attempt.id);
  const errors = collectToolErrors();
  const redaction = redactTurn(ports.redactor ?? NOTHING_KNOWN, (event) => {
    errors.take(event);
    observe(event);
  });
  return withToolErrors(redaction.turn(await startUnredacted(ports, lease, attempt, redaction.onEvent)), errors);
}

const NOTHING_KNOWN = createRedactor([]);

async function startUnredacted(
  ports: AttemptPorts,
  lease: Lease,
  attempt: Attempt,
  onEvent: (event: TurnEvent) => void,
): Promise<Turn> {
  const stored = turnRequestSchema.parse(JSON.parse(attempt.request));
  const directory = join(ports.turnsDirectory, attempt.id);
  const runtime = ports.runtime(attempt.runtime);
  if (runtime === undefined && attempt.process === null) return refusedTurn(unknownRuntime(attempt.runtime));
  if (runtime === undefined) throw notConfigured(attempt);
  const prepared = (await ports.prepare?.(attempt, stored, attempt.process === null)) ?? {
    type: 'ready',
    request: stored,
  };
  if (prepared.type === 'refused' && attempt.process === null) return refusedTurn(prepared.failure);
  const request = prepared.type === 'ready' ? prepared.request : stored;
  if (attempt.process !== null) {
    ports.onStarted?.(attempt.id, 'attached');
    return runtime.attach(request, {
      directory,
      identity: attempt.process,
      spawnedAt: attempt.spawnedAt ?? attempt.claimedAt,
      onEvent,
    });
  }
  const fresh = attempt.epoch === lease.epoch;
  if (!fresh) {
    await ports.processes.sweep(attempt.id);
    await rm(directory, { recursive: true, force: true });
  }
  const how = fresh ? 'started' : 'started-again';
  return start(ports, lease, runtime, request, { attempt, directory, onEvent, how });
}

async function start(
  ports: AttemptPorts,
  lease: Lease,
  runtime: AgentRuntime,
  request: TurnRequest,
  turn: { attempt: Attempt; directory: string; onEvent: (event: TurnEvent) => void; how: AttemptStart },
): Promise<Turn> {
  failpoint('attempt.claimed');
  await mkdir(turn.directory, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw storageError(turn.directory, error);
  });
  await ports.beforeSpawn?.(turn.attempt, turn.directory);
  return runtime.start(request, {
    directory: turn.directory,
    onEvent: turn.onEvent,
    onSpawned: async (identity: ProcessIdentity, at: number) => {
      ports.ledger.markSpawned(lease, turn.attempt.id, identity, at);
      ports.onStarted?.(turn.attempt.id, turn.how);
    },
  });
}

/** The few events that belong to the ledger's stream, each once; everything is passed on. */
function observer(ports: AttemptPorts, lease: Lease, attemptId: string): (event: TurnEvent) => void {
  const seen = new Set<string>();
  const note = (type: string, data: Json): void => {
    if (seen.has(type)) return;
    seen.add(type);
    try {
      ports.ledger.observe(lease, attemptId, type, data);
    } catch (error) {
      // The turn must not die of it: the fact is in its output too, and what else ails the ledger shows when it is settled. A
      // full disk does not: the room that is kept for a pause was given back for this very write, and would be used up.
      if (isStorageError(error)) ports.onBroken?.(attemptId, error);
    }
  };
  return (event) => {
    if (event.type === 'session-announced') {
      note('session-announced', { session: event.id, resumed: event.resumed, model: event.model ?? null });
    }
    if (event.type === 'tool-started') note('first-tool', { tool: event.tool, kind: event.kind });
    ports.onEvent?.(attemptId, event);
  };
}

/** Its process may be alive and its work done: neither is given up because a setting is missing. */
function notConfigured(attempt: Attempt): SquadError {
  return new SquadError({
    code: 'bad-input',
    message: `${attempt.id} is under way with the runtime ${attempt.runtime}, which is not configured here`,
    next: `Configure ${attempt.runtime} as it was, and resume.`,
  });
}

function unknownRuntime(runtime: string): Failure {
  return {
    kind: 'setting-unsupported',
    setting: 'runtime',
    message: `no runtime is called ${runtime}`,
    mayHaveActed: false,
  };
}

function refusedTurn(failure: Failure): Turn {
  const result: TurnResult = { outcome: 'refused', text: '', denials: [], failure, stderrTail: '', durationMs: 0 };
  return {
    result: Promise.resolve(result),
    cancel: () => Promise.resolve(result),
    detach: () => Promise.resolve(),
    activity: () => ({ lastSignOfLifeAt: 0, openTools: 0 }),
  };
}

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSquadError, SquadError } from '../../model/errors.ts';
import { errorCode, storageError } from '../../model/storage-error.ts';
import type { Failure } from '../../model/failure.ts';
import { sessionRefSchema } from '../../model/session-ref.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import { usageSchema } from '../../model/usage.ts';
import type { Turn, TurnActivity } from '../../runtimes/port/agent-runtime.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import type { Lease } from '../../substrate/ports/ledger.ts';
import { defined } from '../../text/defined.ts';
import { startAttempt, type AttemptPorts } from './start-attempt.ts';

/** Bytes that squad keeps of stdout and of stderr once a turn is settled (bar T13). */
const KEPT_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Takes each claimed attempt to its one settlement, also one that an earlier engine started. */
export interface Supervisor {
  /** Starts, adopts or settles an attempt. Idempotent; returns at once. */
  ensure(attemptId: string): void;
  /** Resolves when the ledger has the attempt's settlement. Rejects if this engine was fenced. */
  settled(attemptId: string): Promise<void>;
  /** Ends the turn and settles it as cancelled, unless it has finished. */
  cancel(attemptId: string, reason: string): Promise<void>;
  /** undefined: this supervisor does not run it. */
  activity(attemptId: string): TurnActivity | undefined;
  live(): readonly string[];
  /** Whether the process of some attempt is still to be started. */
  readonly isStarting: () => boolean;
  /** Leaves every process running for another engine to adopt. Settles nothing after this. */
  detach(): Promise<void>;
}

interface Running {
  readonly settled: Promise<void>;
  readonly starting: Promise<Turn>;
  turn?: Turn;
  cancelReason?: string;
}

interface State {
  readonly ports: AttemptPorts;
  readonly lease: Lease;
  readonly running: Map<string, Running>;
  /** Those whose process is not on record yet. */
  readonly begun: Set<string>;
  /** The last look at the disk. One at a time, so that turns are settled in the order of their results. */
  disk: Promise<void>;
  detached: boolean;
}

export function createSupervisor(ports: AttemptPorts, lease: Lease): Supervisor {
  const released = Promise.withResolvers<never>();
  released.promise.catch(() => undefined);
  const running = new Map<string, Running>();
  const begun = new Set<string>();
  const onStarted: AttemptPorts['onStarted'] = (attemptId, how) => {
    begun.delete(attemptId);
    ports.onStarted?.(attemptId, how);
  };
  const startPorts = preparedUntil(released.promise, { ...ports, onStarted });
  const state: State = { ports, lease, running, begun, disk: Promise.resolve(), detached: false };
  return {
    ensure: (attemptId) => {
      if (state.detached || running.has(attemptId)) return;
      const attempt = ports.ledger.attempt(attemptId);
      if (attempt === undefined) throw unknownAttempt(attemptId);
      if (attempt.status === 'settled') return;
      const starting = Promise.resolve().then(async () => startAttempt(startPorts, lease, attempt));
      const settled = carry(state, attemptId, starting).catch(async (error: unknown) =>
        endAnyway(state, attemptId, error),
      );
      // `settled` reports the failure; it must not end the process as an unhandled rejection.
      settled.catch((error: unknown) => (state.detached ? undefined : ports.onBroken?.(attemptId, error)));
      running.set(attemptId, { settled, starting });
      begun.add(attemptId);
    },
    settled: async (attemptId) => running.get(attemptId)?.settled,
    cancel: async (attemptId, reason) => {
      const entry = running.get(attemptId);
      if (entry === undefined) return;
      entry.cancelReason = reason;
      await entry.turn?.cancel(reason);
      await entry.settled;
    },
    activity: (attemptId) => running.get(attemptId)?.turn?.activity(),
    live: () => [...running.keys()],
    isStarting: () => begun.size > 0,
    detach: async () => {
      state.detached = true;
      released.reject(new Error('this engine has detached from its turns'));
      // Includes turns that are starting. One that fails to start has no process, and `settled` says why.
      const turns = await Promise.allSettled([...running.values()].map(async (entry) => entry.starting));
      await Promise.all(turns.map(async (turn) => (turn.status === 'fulfilled' ? turn.value.detach() : undefined)));
    },
  };
}

/** After `detach`, the setup checks stay open for the next engine and `prepare` never returns; this ends the wait for it. */
function preparedUntil(released: Promise<never>, ports: AttemptPorts): AttemptPorts {
  const prepare = ports.prepare?.bind(ports);
  if (prepare === undefined) return ports;
  return { ...ports, prepare: async (attempt, request) => Promise.race([prepare(attempt, request), released]) };
}

async function carry(state: State, attemptId: string, starting: Promise<Turn>): Promise<void> {
  const { ports, lease, running } = state;
  const turn = await starting;
  const entry = running.get(attemptId);
  if (entry !== undefined) entry.turn = turn;
  // The result reports a failure of this.
  if (entry?.cancelReason !== undefined) turn.cancel(entry.cancelReason).catch(() => undefined);
  const result = withTrueUsage(await turn.result);
  // The next engine settles what has ended meanwhile.
  if (state.detached) return new Promise(() => undefined);
  if (result.outcome === 'failed') {
    const look = async (): Promise<void> => requireDisk(ports.turnsDirectory);
    state.disk = state.disk.then(look, look);
    await state.disk;
  }
  failpoint('attempt.before-settle');
  const settled = settle(ports, lease, attemptId, result);
  failpoint('attempt.settled');
  // Otherwise the prompts of a whole night stay in memory.
  running.delete(attemptId);
  state.begun.delete(attemptId);
  ports.onSettled?.(attemptId, settled);
  // Only saves room: the settlement has been read, so a failure does no harm.
  await ports.processes.trimOutput(join(ports.turnsDirectory, attemptId), KEPT_OUTPUT_BYTES).catch(() => undefined);
}

/** Settles an attempt as failed after an error, unless the error ends the engine. A settled attempt stays as it is. */
async function endAnyway(state: State, attemptId: string, error: unknown): Promise<void> {
  const { ports, lease, running } = state;
  if (ports.fault === undefined || state.detached) throw error;
  const message = await ports.fault(error);
  const attempt = ports.ledger.attempt(attemptId);
  const mayHaveActed = attempt?.status === 'spawned';
  const alive = mayHaveActed ? await ports.processes.sweep(attemptId) : [];
  // The next engine finds it as it is.
  if (state.detached) throw error;
  running.delete(attemptId);
  state.begun.delete(attemptId);
  if (attempt?.status === 'settled') return;
  const kind = alive.length > 0 ? 'not-stopped' : mayHaveActed ? 'lost' : 'never-started';
  const result = failedTurn({ kind, message, mayHaveActed });
  ports.ledger.settle(lease, attemptId, result);
  ports.onSettled?.(attemptId, result);
}

function failedTurn(failure: Failure): TurnResult {
  return { outcome: 'failed', text: '', denials: [], failure, stderrTail: '', durationMs: 0 };
}

/** A result that the ledger cannot store (an answer nested too deep) still has to end the attempt. */
function settle({ ledger }: AttemptPorts, lease: Lease, attemptId: string, result: TurnResult): TurnResult {
  try {
    ledger.settle(lease, attemptId, result);
    return result;
  } catch (error) {
    if (!isSquadError(error) || error.code !== 'bad-input') throw error;
    const storable = withoutAnswer(result, error.message);
    ledger.settle(lease, attemptId, storable);
    return storable;
  }
}

/** Drops impossible usage figures, and keeps the answer. */
function withTrueUsage(result: TurnResult): TurnResult {
  if (usageSchema.optional().safeParse(result.usage).success) return result;
  const { usage: _, ...rest } = result;
  return rest;
}

/** A failure in place of a result that cannot be stored; keeps the session and usage if those can be. */
function withoutAnswer(result: TurnResult, why: string): TurnResult {
  const session = sessionRefSchema.safeParse(result.session).data;
  const usage = usageSchema.safeParse(result.usage).data;
  const message = `the turn's result cannot be stored: ${why}`;
  return { ...failedTurn({ kind: 'bad-output', message, mayHaveActed: true }), ...defined({ session, usage }) };
}

function unknownAttempt(id: string): SquadError {
  return new SquadError({
    code: 'unknown-attempt',
    message: `unknown attempt ${id}`,
    next: 'Run `squad log` to see all attempts.',
  });
}

const PROBE_BYTES = 64 * 1024;

/** Throws `storage-full` or `storage-refused` if the folder takes no write now: each retry of the turn would fail too. */
async function requireDisk(directory: string): Promise<void> {
  const probe = join(directory, '.probe');
  try {
    await writeFile(probe, Buffer.alloc(PROBE_BYTES, 1));
  } catch (error) {
    // A missing folder says nothing about the disk.
    if (errorCode(error) !== 'ENOENT') throw storageError(directory, error);
  } finally {
    await rm(probe).catch(() => undefined);
  }
}

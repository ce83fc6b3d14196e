import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSquadError, SquadError } from '../model/errors.ts';
import { errorCode, storageError } from '../model/storage-error.ts';
import { sessionRefSchema } from '../model/session-ref.ts';
import type { TurnResult } from '../model/turn-result.ts';
import { usageSchema } from '../model/usage.ts';
import type { Turn, TurnActivity } from '../runtimes/port/agent-runtime.ts';
import { failpoint } from '../substrate/failpoint.ts';
import type { Lease } from '../substrate/ports/ledger.ts';
import { startAttempt, type AttemptPorts } from './start-attempt.ts';

/** What is kept of each of stdout and stderr once a turn is settled (bar T13). */
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
  /** Leaves every process running for another engine to adopt. Settles nothing after this. */
  detach(): Promise<void>;
}

interface Running {
  readonly settled: Promise<void>;
  readonly starting: Promise<Turn>;
  turn?: Turn;
  cancelReason?: string;
}

export function createSupervisor(ports: AttemptPorts, lease: Lease): Supervisor {
  const taken = new Map<string, Running>();
  let detached = false;
  const released = Promise.withResolvers<never>();
  released.promise.catch(() => undefined);

  /**
   * After `detach`, the setup checks of a workspace stay open for the next engine, and `prepare` never returns: so it is
   * raced. A turn without its workspace starts no process.
   */
  const prepare = ports.prepare?.bind(ports);
  const attemptPorts: AttemptPorts =
    prepare === undefined
      ? ports
      : { ...ports, prepare: async (...given) => Promise.race([prepare(...given), released.promise]) };

  const carry = async (attemptId: string, starting: Promise<Turn>, entry: () => Running): Promise<void> => {
    const turn = await starting;
    entry().turn = turn;
    const { cancelReason } = entry();
    // The result reports a failure of this.
    if (cancelReason !== undefined) turn.cancel(cancelReason).catch(() => undefined);
    const result = withTrueUsage(await turn.result);
    // The next engine settles what has ended meanwhile.
    if (detached) return new Promise(() => undefined);
    if (result.outcome === 'failed') await requireDisk(ports.turnsDirectory);
    failpoint('attempt.before-settle');
    const settled = settle(attemptId, result);
    failpoint('attempt.settled');
    // Otherwise the prompts of a whole night stay in memory.
    taken.delete(attemptId);
    ports.onSettled?.(attemptId, settled);
    await trim(attemptId);
  };

  /** A result that the ledger cannot store (an answer nested too deep) still has to end the attempt. */
  const settle = (attemptId: string, result: TurnResult): TurnResult => {
    try {
      ports.ledger.settle(lease, attemptId, result);
      return result;
    } catch (error) {
      if (!isSquadError(error) || error.code !== 'bad-input') throw error;
      const storable = withoutAnswer(result, error.message);
      ports.ledger.settle(lease, attemptId, storable);
      return storable;
    }
  };

  /** Only saves room: the settlement has been read, so a failure does no harm. */
  const trim = (attemptId: string): Promise<unknown> =>
    ports.processes.trimOutput(join(ports.turnsDirectory, attemptId), KEPT_OUTPUT_BYTES).catch(() => undefined);

  return {
    ensure: (attemptId) => {
      if (detached || taken.has(attemptId)) return;
      const attempt = ports.ledger.attempt(attemptId);
      if (attempt === undefined) throw unknownAttempt(attemptId);
      if (attempt.status === 'settled') return;
      const starting = Promise.resolve().then(async () => startAttempt(attemptPorts, lease, attempt));
      const begun = carry(attemptId, starting, () => entry);
      const entry: Running = { settled: begun, starting };
      // `settled` reports the failure; it must not end the process as an unhandled rejection.
      begun.catch((error: unknown) => (detached ? undefined : ports.onBroken?.(attemptId, error)));
      taken.set(attemptId, entry);
    },
    settled: async (attemptId) => taken.get(attemptId)?.settled,
    cancel: async (attemptId, reason) => {
      const entry = taken.get(attemptId);
      if (entry === undefined) return;
      entry.cancelReason = reason;
      await entry.turn?.cancel(reason);
      await entry.settled;
    },
    activity: (attemptId) => taken.get(attemptId)?.turn?.activity(),
    live: () => [...taken.keys()],
    detach: async () => {
      detached = true;
      released.reject(new Error('this engine has detached from its turns'));
      // Includes turns that are starting. One that fails to start has no process, and `settled` says why.
      const turns = await Promise.allSettled([...taken.values()].map(async (entry) => entry.starting));
      await Promise.all(turns.map(async (turn) => (turn.status === 'fulfilled' ? turn.value.detach() : undefined)));
    },
  };
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
  return {
    outcome: 'failed',
    ...(session === undefined ? {} : { session }),
    text: '',
    denials: [],
    ...(usage === undefined ? {} : { usage }),
    failure: { kind: 'bad-output', message: `the turn's result cannot be stored: ${why}`, mayHaveActed: true },
    stderrTail: '',
    durationMs: 0,
  };
}

function unknownAttempt(id: string): SquadError {
  return new SquadError({
    code: 'unknown-attempt',
    message: `unknown attempt ${id}`,
    next: 'Run `squad log` to see all attempts.',
  });
}

const PROBE_BYTES = 64 * 1024;

/**
 * Throws `storage-full` or `storage-refused` if the folder takes no write now: the turn may have failed for that reason, and
 * each retry would fail too.
 */
async function requireDisk(directory: string): Promise<void> {
  const probe = join(directory, '.probe');
  try {
    await writeFile(probe, Buffer.alloc(PROBE_BYTES, 1), { mode: 0o600 });
  } catch (error) {
    // A missing folder says nothing about the disk.
    if (errorCode(error) !== 'ENOENT') throw storageError(directory, error);
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

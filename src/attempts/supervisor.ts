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

/** Of each of stdout and stderr, once a turn is settled (reliability bar T13). */
const KEPT_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Carries claimed attempts to their one settlement, whoever started them. */
export interface Supervisor {
  /** Starts, adopts or settles an attempt; idempotent by its id, and returns at once. */
  ensure(attemptId: string): void;
  /** Resolves when the ledger has the settlement of an attempt that is carried here. Rejects when this engine was fenced. */
  settled(attemptId: string): Promise<void>;
  /** Ends the turn and settles it as cancelled, unless it had finished. */
  cancel(attemptId: string, reason: string): Promise<void>;
  /** undefined: not live here. */
  activity(attemptId: string): TurnActivity | undefined;
  live(): readonly string[];
  /** Leaves every process running, for another engine to adopt. Nothing is settled after this. */
  detach(): Promise<void>;
}

interface Taken {
  readonly settled: Promise<void>;
  readonly starting: Promise<Turn>;
  turn?: Turn;
  cancelReason?: string;
}

export function createSupervisor(ports: AttemptPorts, lease: Lease): Supervisor {
  const taken = new Map<string, Taken>();
  let detached = false;
  /** Rejects when this engine lets go of everything. */
  const letGo = Promise.withResolvers<never>();
  letGo.promise.catch(() => undefined);

  /**
   * A place may be made by checks, which stay open once they are left to the next engine: whoever detaches would wait for
   * ever. No process is started for a turn whose place was not ready.
   */
  const prepare = ports.prepare?.bind(ports);
  const attemptPorts: AttemptPorts =
    prepare === undefined
      ? ports
      : { ...ports, prepare: async (...given) => Promise.race([prepare(...given), letGo.promise]) };

  const carry = async (attemptId: string, starting: Promise<Turn>, entry: () => Taken): Promise<void> => {
    const turn = await starting;
    entry().turn = turn;
    const { cancelReason } = entry();
    // What comes of it, the result says.
    if (cancelReason !== undefined) turn.cancel(cancelReason).catch(() => undefined);
    const result = withTrueUsage(await turn.result);
    // What ended meanwhile is harvested by the engine that takes over.
    if (detached) return new Promise(() => undefined);
    if (result.outcome === 'failed') await requireDisk(ports.turnsDirectory);
    failpoint('attempt.before-settle');
    const settled = settle(attemptId, result);
    failpoint('attempt.settled');
    // The ledger knows the rest; a night of turns would be kept in memory, prompts and all.
    taken.delete(attemptId);
    ports.onSettled?.(attemptId, settled);
    await trim(attemptId);
  };

  /** What the ledger cannot store (an answer nested too deep) must not leave the attempt open for ever. */
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

  /** Room, not truth: what the settlement needs has been read, and a log that stays long is no harm. */
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
      const entry: Taken = { settled: begun, starting };
      // Whoever cares awaits `settled`; a failure must not end the process as an unhandled rejection.
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
      letGo.reject(new Error('this engine has let go of its turns'));
      // Also of turns that are about to start; what could not be taken up has no process, and `settled` says why.
      const turns = await Promise.allSettled([...taken.values()].map(async (entry) => entry.starting));
      await Promise.all(turns.map(async (turn) => (turn.status === 'fulfilled' ? turn.value.detach() : undefined)));
    },
  };
}

/** Numbers that cannot be are no knowledge of what was used; the answer, which is paid for, is not given up for them. */
function withTrueUsage(result: TurnResult): TurnResult {
  if (usageSchema.optional().safeParse(result.usage).success) return result;
  const { usage: _, ...rest } = result;
  return rest;
}

/** A failure in place of a result that cannot be stored, with what of its session and usage can. */
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
    message: `no attempt is called ${id}`,
    next: 'Run `squad log` to see the attempts of this repository.',
  });
}

const PROBE_BYTES = 64 * 1024;

/**
 * Throws `storage-full` or `storage-refused` when the folder takes no write now: whatever has failed may have failed of
 * that, and would fail again until every try is used up.
 */
async function requireDisk(directory: string): Promise<void> {
  const probe = join(directory, '.probe');
  try {
    await writeFile(probe, Buffer.alloc(PROBE_BYTES, 1), { mode: 0o600 });
  } catch (error) {
    // A folder that is gone says nothing of the disk.
    if (errorCode(error) !== 'ENOENT') throw storageError(directory, error);
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

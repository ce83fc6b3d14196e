import type { Settlement } from '../../model/attempt.ts';
import { errorText, isSquadError, SquadError } from '../../model/errors.ts';
import { defined } from '../../text/defined.ts';
import type { Json } from '../../text/json.ts';
import { microUsd } from '../../model/money.ts';
import { turnResultSchema, type TurnResult } from '../../model/turn-result.ts';
import type { Lease, SettleAnswer } from '../ports/ledger.ts';
import { settleMail } from './mail/settle-mail.ts';
import { findAttempt, requireAttempt } from './attempts.ts';
import { appendEvent } from './events.ts';
import { requireLease } from './leases.ts';
import { corruptDatabase } from './sqlite-errors.ts';
import { digestOf, parseRow, parseStored, refuseDepth, storedJson, type Store } from './store.ts';
import type { Usage } from '../../model/usage.ts';

/** In a write transaction. Returns a fenced engine's refusal instead of throwing, so that the late result is kept. */
export function settle(store: Store, lease: Lease, attemptId: string, result: TurnResult): SettleAnswer | SquadError {
  try {
    requireLease(store, lease);
  } catch (error) {
    if (isSquadError(error)) return keepFenced(store, lease, attemptId, result, error);
    throw error;
  }
  return settleNow(store, lease, attemptId, result);
}

function settleNow(store: Store, lease: Lease, attemptId: string, result: TurnResult): SettleAnswer {
  const attempt = requireAttempt(store, lease, attemptId);
  const { stored, usage } = plainResult(result);
  const digest = digestOf(stored);
  const known = readStored(store, attemptId);
  if (known !== undefined) {
    const lateRecorded = known.digest !== digest;
    if (lateRecorded) recordLate(store, lease, attempt, { result: stored, digest }, lease.epoch);
    return { settled: false, reason: 'already', lateRecorded };
  }
  const { taskId, number, kind } = attempt;
  const { runId, epoch } = lease;
  const { outcome } = result;
  const failure = result.failure?.kind ?? null;
  const data = { attemptId, taskId, number, kind, outcome, failure, usage: (usage ?? null) as Json };
  const seq = appendEvent(store, { stream: runId, type: 'attempt-settled', epoch, data });
  const row = { attempt_id: attemptId, seq, at: store.clock.now(), epoch, outcome, failure };
  store.insert('settlement', { ...row, result: storedJson(stored), digest });
  insertUsage(store, attemptId, usage);
  store.run("UPDATE attempt SET status = 'settled' WHERE id = ?", attemptId);
  settleMail(store, attemptId, outcome === 'completed');
  return { settled: true, seq };
}

/** The result as readers will get it. Throws `bad-input` for a result that no reader would accept. */
function plainResult(result: TurnResult): { readonly stored: Json; readonly usage: Usage | undefined } {
  // Check the depth first: the schema overflows the stack on a value nested 20,000 levels deep. The cast claims no more than
  // the check needs, because it only walks objects and arrays.
  refuseDepth(result as unknown as Json);
  const parsed = turnResultSchema.safeParse(result);
  if (parsed.success) {
    return { stored: JSON.parse(storedJson(parsed.data as Json)) as Json, usage: parsed.data.usage };
  }
  throw new SquadError({
    code: 'bad-input',
    message: `The result of a turn has the wrong shape: ${errorText(parsed.error)}`,
    cause: parsed.error,
  });
}

/** Keeps a result that was paid for, although its engine is too late. Returns the refusal. */
function keepFenced(store: Store, lease: Lease, attemptId: string, given: TurnResult, refusal: SquadError): SquadError {
  const attempt = findAttempt(store, attemptId);
  const counted = readStored(store, attemptId);
  const had = store.has('SELECT 1 FROM lease WHERE run_id = ? AND epoch = ?', lease.runId, lease.epoch);
  // Not settled: the engine that took over reads the same output and settles it.
  if (attempt?.runId !== lease.runId || counted === undefined || !had) return refusal;
  const { stored: result } = plainResult(given);
  const digest = digestOf(result);
  if (counted.digest === digest) return refusal;
  // No epoch: the current driver did not write it.
  recordLate(store, lease, attempt, { result, digest });
  return new SquadError({
    code: 'lease-fenced',
    message: `This process no longer drives run ${lease.runId}. Its result of ${attemptId} is on record, and was not applied.`,
    next: `Look at it with \`squad status ${lease.runId}\`.`,
    cause: refusal,
  });
}

/** Keeps a late result for people, once: its digest identifies it. */
function recordLate(
  store: Store,
  lease: Lease,
  attempt: { id: string; taskId: string },
  late: { result: Json; digest: string },
  epoch?: number,
): void {
  const { result, digest } = late;
  const known = 'SELECT 1 FROM late_result WHERE attempt_id = ? AND digest = ?';
  if (store.has(known, attempt.id, digest)) return;
  const data = { attemptId: attempt.id, taskId: attempt.taskId, digest, result };
  const seq = appendEvent(store, defined({ stream: lease.runId, type: 'late-result', epoch, data }));
  store.insert('late_result', { attempt_id: attempt.id, digest, seq });
}

interface StoredSettlement extends Pick<Settlement, 'seq' | 'at' | 'epoch'> {
  readonly result: string;
  readonly digest: string;
}

function readStored(store: Store, attemptId: string): StoredSettlement | undefined {
  const sql = 'SELECT seq, at, epoch, result, digest FROM settlement WHERE attempt_id = ?';
  return store.one<StoredSettlement>(sql, attemptId);
}

/** Checks the digest, which shows a flipped bit in the stored result. */
export function readSettlement(store: Store, attemptId: string): Settlement | undefined {
  const row = readStored(store, attemptId);
  if (row === undefined) return undefined;
  const where = `settlement of attempt ${attemptId}`;
  const result = parseRow(store, turnResultSchema, row.result, where);
  if (digestOf(parseStored(store, row.result, where)) !== row.digest) {
    throw corruptDatabase(store.db.name, `${where} does not match its digest.`);
  }
  return { attemptId, seq: row.seq, at: row.at, epoch: row.epoch, result };
}

/** Unknown use is a row of NULLs. */
function insertUsage(store: Store, attemptId: string, usage: Usage | undefined): void {
  store.insert('usage', {
    attempt_id: attemptId,
    input_tokens: usage?.inputTokens ?? null,
    cached_input_tokens: usage?.cachedInputTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
    reasoning_tokens: usage?.reasoningTokens ?? null,
    cost_micro_usd: usage?.costUsd === undefined ? null : microUsd(usage.costUsd),
  });
}

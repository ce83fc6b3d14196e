import { SquadError } from '../../model/errors.ts';
import type { Attempt } from '../../model/attempt.ts';
import type { Json } from '../../text/json.ts';
import { processIdentitySchema, type ProcessIdentity } from '../../model/process-identity.ts';
import type { AttemptFilter, Lease } from '../ports/ledger.ts';
import { appendEvent, refuseLedgerType } from './events.ts';
import { requireLease } from './leases.ts';
import { SEALED_OF_ATTEMPT } from './row-digest.ts';
import { parseRow, type Store } from './store.ts';
import { defined } from '../../text/defined.ts';

type StoredAttempt = Omit<Attempt, 'process'> & { readonly process: string | null };

const ATTEMPT = `SELECT id, run_id AS runId, task_id AS taskId, number, kind, agent, runtime, epoch, session_key AS sessionKey,
  request, claimed_at AS claimedAt, process, spawned_at AS spawnedAt, status FROM attempt`;

export function findAttempt(store: Store, id: string): Attempt | undefined {
  const row = store.one<StoredAttempt>(`${ATTEMPT} WHERE id = ?`, id);
  return row === undefined ? undefined : toAttempt(store, row);
}

/** In claim order. */
export function listAttempts(store: Store, { runId, taskId, status }: AttemptFilter): Attempt[] {
  const filters = Object.entries(defined({ run_id: runId, task_id: taskId, status }));
  const where = ['1', ...filters.map(([column]) => `${column} = ?`)].join(' AND ');
  const sql = `${ATTEMPT} WHERE ${where} ORDER BY claim_seq`;
  return store.all<StoredAttempt>(sql, ...filters.map(([, value]) => value)).map((row) => toAttempt(store, row));
}

/** The attempt, if it belongs to the run of this current lease. Throws `lease-fenced` or `unknown-attempt`. */
export function requireAttempt(store: Store, lease: Lease, id: string): Attempt {
  requireLease(store, lease);
  const attempt = findAttempt(store, id);
  if (attempt !== undefined && attempt.runId === lease.runId) return attempt;
  throw unknownAttempt(`Run ${lease.runId} has no attempt ${id}.`, lease.runId);
}

export function markSpawned(store: Store, lease: Lease, id: string, identity: ProcessIdentity, at: number): void {
  const attempt = requireAttempt(store, lease, id);
  const text = JSON.stringify(processIdentitySchema.parse(identity));
  if (attempt.process !== null && attempt.status === 'spawned' && JSON.stringify(attempt.process) === text) return;
  if (attempt.status !== 'claimed') {
    throw unknownAttempt(`Attempt ${id} does not wait for a process: it is ${attempt.status}.`, lease.runId);
  }
  store.run("UPDATE attempt SET status = 'spawned', process = ?, spawned_at = ? WHERE id = ?", text, at, id);
  sealAttempt(store, id);
  appendEvent(store, {
    stream: lease.runId,
    type: 'attempt-spawned',
    epoch: lease.epoch,
    data: { attemptId: id, taskId: attempt.taskId, pid: identity.pid },
  });
}

/** Call it in the transaction that changed a sealed column. */
export function sealAttempt(store: Store, id: string): void {
  store.run(`UPDATE attempt SET seal = row_digest(${SEALED_OF_ATTEMPT}) WHERE id = ?`, id);
}

export function observe(store: Store, lease: Lease, id: string, type: string, fact: Json): boolean {
  const attempt = requireAttempt(store, lease, id);
  refuseLedgerType(type);
  if (attempt.status === 'settled') return false;
  if (store.has('SELECT 1 FROM observation WHERE attempt_id = ? AND type = ?', id, type)) return false;
  const data = { attemptId: id, taskId: attempt.taskId, fact };
  const seq = appendEvent(store, { stream: lease.runId, type, epoch: lease.epoch, data });
  store.insert('observation', { attempt_id: id, type, seq });
  return true;
}

function unknownAttempt(message: string, runId: string): SquadError {
  return new SquadError({ code: 'unknown-attempt', message, next: `See \`squad log ${runId}\` for its attempts.` });
}

function toAttempt(store: Store, row: StoredAttempt): Attempt {
  if (row.process === null) return { ...row, process: null };
  return { ...row, process: parseRow(store, processIdentitySchema, row.process, `process of attempt ${row.id}`) };
}

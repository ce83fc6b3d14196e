import { hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';

/** Enough to find accidental damage. It does not protect against an attacker. */
const DIGEST_BYTES = 16;

export type Field = string | number | null;

/** The seal of a row, made of its fields in the order of the table. It shows a flipped bit, which SQLite takes for another text. */
export function rowDigest(fields: readonly Field[]): Buffer {
  return hash('sha256', JSON.stringify(fields), 'buffer').subarray(0, DIGEST_BYTES);
}

/** By table of the first schema: the fields of its seal. The writer seals these rows. */
export const SEALED = {
  event: 'seq, stream, type, at, cause, epoch, data',
  attempt:
    'id, run_id, task_id, number, kind, agent, runtime, epoch, session_key, request, claim_seq, claimed_at, process, spawned_at',
} as const;

/** Triggers seal these rows. */
export const SEALED_BY_TRIGGER = {
  run: 'id, name, created_at, applied, driver, parent_run, parent_seq',
  application: 'run_id, cursor, seq, driver, epoch, at, answer',
  lease: 'run_id, epoch, holder, acquired_at, seen_at, released_at',
  settlement: 'attempt_id, seq, at, epoch, outcome, failure, result, digest',
  usage: 'attempt_id, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, cost_usd',
  late_result: 'attempt_id, digest, seq',
  observation: 'attempt_id, type, seq',
  timer: 'run_id, id, due_at, set_seq, data',
  operator_command: 'id, run_id, seq, verb, data, operator, at',
} as const;

/** Rows of the mailbox, since schema 3. They never change, and the writer seals them. */
export const MAIL_SEALED = {
  mail: 'seq, id, run_id, epoch, event_seq, party, sent_key, held, agent_instance, sender, recipients, type, action, task_id, owner, deadline, corr, ttl_ms, ts, body_encoding, body, body_ref, digest',
} as const;

export const MAIL_SEALED_BY_TRIGGER = {
  mail_session: 'one, id, created_at',
  mail_policy: 'run_id, policy, at',
  mail_delivery:
    'mail_seq, recipient, run_id, sender, state, held, leased_by, leased_until, handed_to, retries, phase, due, expires_at, accepted_at, is_ask, answer_due, answer_at, answer, last_error',
  mail_token: 'hash, run_id, address, attempt_id, instance, issued_at, ended_at',
  mail_receiver: 'run_id, address, able, able_until, beat_until, received_ms, counted_at',
  mail_task: 'run_id, id, status, owner, deadline, retries, mail_seq, last_update_seq',
} as const;

export const ALL_SEALED = { ...SEALED, ...SEALED_BY_TRIGGER, ...MAIL_SEALED, ...MAIL_SEALED_BY_TRIGGER };

/** Makes `row_digest(…)` known to the statements of this connection. */
export function teachRowDigest(db: Database): void {
  db.function('row_digest', { deterministic: true, varargs: true }, (...fields: Field[]) => rowDigest(fields));
}

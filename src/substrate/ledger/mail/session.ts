import { randomUUID } from 'node:crypto';
import { badInput, SquadError, usageError } from '../../../model/errors.ts';
import { mailPolicySchema, type MailPolicy } from '../../../model/mail/policy.ts';
import { requireLease } from '../leases.ts';
import { digestOf, parseRow, storedJson, type Store } from '../store.ts';
import type { Lease } from '../../ports/ledger.ts';
import type { MailSession } from '../../ports/mailbox.ts';

interface StoredSession {
  readonly id: string;
  readonly created_at: number;
}

/** Within a write transaction: the workspace's session, created with its first message. */
export function ensureSession(store: Store): string {
  const known = findSession(store);
  if (known !== undefined) return known.id;
  const id = randomUUID();
  store.insert('mail_session', { one: 1, id, created_at: store.clock.now() });
  return id;
}

/** Throws `usage` in a workspace without mail. */
export function readSession(store: Store, runId: string): MailSession {
  const session = findSession(store);
  if (session === undefined) throw noMailbox(runId);
  return { id: session.id, createdAt: session.created_at, epoch: epochOf(store), lastSeq: lastMail(store).seq };
}

/** Counts the cold starts of the workspace's mail: each engine that takes a run is one. 0: no engine has started yet. */
export function epochOf(store: Store): number {
  return store.value<number>('SELECT count(*) FROM lease') ?? 0;
}

export function lastMail(store: Store): { seq: number; ts: number } {
  const sql = 'SELECT seq, ts FROM mail ORDER BY seq DESC LIMIT 1';
  return store.one<{ seq: number; ts: number }>(sql) ?? { seq: 0, ts: 0 };
}

function noMailbox(runId: string): SquadError {
  return usageError(`Run ${runId} has no mailbox.`, `An engine opens it: \`squad resume ${runId}\`.`);
}

function findSession(store: Store): StoredSession | undefined {
  return store.one<StoredSession>('SELECT id, created_at FROM mail_session');
}

/** Within a write transaction. Throws `bad-input` if the run's mailbox is open with another policy. */
export function openMailbox(store: Store, lease: Lease, policy: MailPolicy): void {
  requireLease(store, lease);
  const known = findPolicy(store, lease.runId);
  if (known === undefined) {
    ensureSession(store);
    store.insert('mail_policy', { run_id: lease.runId, policy: storedJson(policy), at: store.clock.now() });
    return;
  }
  if (digestOf(known) === digestOf(policy)) return;
  throw badInput(
    `The mailbox of run ${lease.runId} is open, and its rules for who may write to whom cannot change.`,
    'Start a new run for another team.',
  );
}

export function findPolicy(store: Store, runId: string): MailPolicy | undefined {
  const policy = store.value<string>('SELECT policy FROM mail_policy WHERE run_id = ?', runId);
  return policy === undefined ? undefined : parseRow(store, mailPolicySchema, policy, `mail policy of run ${runId}`);
}

/** Throws `usage` where the run has no mailbox. */
export function requirePolicy(store: Store, runId: string): MailPolicy {
  const policy = findPolicy(store, runId);
  if (policy === undefined) throw noMailbox(runId);
  return policy;
}

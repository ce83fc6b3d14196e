import { SquadError } from '../../../model/errors.ts';
import { mailPolicySchema, type MailPolicy } from '../../../model/mail/policy.ts';
import type { MailMember } from '../../../model/mail/route.ts';
import { requireLease } from '../leases.ts';
import { digestOf, parseRow, storedJson, type Store } from '../store.ts';
import type { Lease } from '../../ports/ledger.ts';
import { ensureSession, noMailbox } from './session.ts';

/** Within a write transaction. Throws `bad-input` if the run's mailbox is open with another policy. */
export function openMailbox(store: Store, lease: Lease, policy: MailPolicy): void {
  requireLease(store, lease);
  const known = findPolicy(store, lease.runId);
  if (known === undefined) {
    ensureSession(store);
    store.db
      .prepare('INSERT INTO mail_policy (run_id, policy, at) VALUES (?, ?, ?)')
      .run(lease.runId, storedJson(policy), store.clock.now());
    return;
  }
  if (digestOf(known) === digestOf(policy)) return;
  throw new SquadError({
    code: 'bad-input',
    message: `The mailbox of run ${lease.runId} is open, and its rules for who may write to whom cannot change.`,
    next: 'Start a new run for another team.',
  });
}

export function findPolicy(store: Store, runId: string): MailPolicy | undefined {
  const sql = 'SELECT policy FROM mail_policy WHERE run_id = ?';
  const row = store.db.prepare<[string], { policy: string }>(sql).get(runId);
  return row === undefined ? undefined : parseRow(store, mailPolicySchema, row.policy, `mail policy of run ${runId}`);
}

/** Throws `usage` where the run has no mailbox. */
export function requirePolicy(store: Store, runId: string): MailPolicy {
  const policy = findPolicy(store, runId);
  if (policy === undefined) throw noMailbox(runId);
  return policy;
}

/** Ignores case. */
export function memberAt(policy: MailPolicy, address: string): MailMember | undefined {
  const wanted = address.toLowerCase();
  return policy.members.find((member) => member.address.toLowerCase() === wanted);
}

import { memberAt } from '../../../model/mail/policy.ts';
import { hash, randomBytes } from 'node:crypto';
import { SquadError, usageError } from '../../../model/errors.ts';
import { WORKSPACE_STREAM } from '../../../model/ledger-event.ts';
import { requireAttempt } from '../attempts.ts';
import type { Store } from '../store.ts';
import type { Lease } from '../../ports/ledger.ts';
import type { MailParty } from '../../ports/mailbox.ts';
import { requirePolicy } from './session.ts';
import { recordRefusal } from './send.ts';

const SECRET_BYTES = 32;

interface StoredToken {
  readonly run_id: string;
  readonly address: string;
  readonly attempt_id: string | null;
  readonly instance: string | null;
  readonly ended_at: number | null;
}

/** Within a write transaction. Throws `lease-fenced`, `unknown-attempt`, or `usage` for an agent that is no member. */
export function issueTurnToken(store: Store, lease: Lease, attemptId: string): string {
  const attempt = requireAttempt(store, lease, attemptId);
  if (attempt.status === 'settled') {
    throw new SquadError({ code: 'unknown-attempt', message: `Attempt ${attemptId} is settled, so it gets no token.` });
  }
  const member = requirePolicy(store, lease.runId).members.find(({ agent }) => agent === attempt.agent);
  if (member === undefined) throw noMember(lease.runId, attempt.agent);
  endTokens(store, 'attempt_id = ?', attemptId);
  return issue(store, { run_id: lease.runId, address: member.address, attempt_id: attemptId, instance: null });
}

/** Within a write transaction. The token of the address's earlier pane expires. Throws `usage`. */
export function issuePaneToken(store: Store, runId: string, address: string, instance: string): string {
  const member = memberAt(requirePolicy(store, runId), address);
  if (member === undefined) throw noMember(runId, address);
  endTokens(store, 'run_id = ? AND address = ? AND attempt_id IS NULL', runId, member.address);
  return issue(store, { run_id: runId, address: member.address, attempt_id: null, instance });
}

/** Within a write transaction. Ignores unknown tokens and those of turns. */
export function closePane(store: Store, token: string): void {
  endTokens(store, 'hash = ? AND attempt_id IS NULL', digestOfToken(token));
}

/** Within a write transaction: these tokens expire. `where`: SQL over `mail_token`, with its parameters. */
export function endTokens(store: Store, where: string, ...parameters: string[]): void {
  const sql = `UPDATE mail_token SET ended_at = ? WHERE ${where} AND ended_at IS NULL`;
  store.run(sql, store.clock.now(), ...parameters);
}

/** The party that the token belongs to now; undefined: none. */
export function bearerOf(store: Store, token: string): MailParty | undefined {
  const sql = 'SELECT run_id, address, attempt_id, instance, ended_at FROM mail_token WHERE hash = ?';
  const row = store.one<StoredToken>(sql, digestOfToken(token));
  if (row === undefined || row.ended_at !== null) return undefined;
  const whose = { runId: row.run_id, address: row.address };
  return row.attempt_id === null
    ? { by: 'pane', ...whose, instance: row.instance ?? '' }
    : { by: 'turn', ...whose, attemptId: row.attempt_id };
}

/** Within a write transaction. */
export function recordBadToken(store: Store): void {
  const rule = 'is the token of a turn that runs, or of an open pane';
  const refusal = { reason: 'not_authorized', field: 'token', rule } as const;
  recordRefusal(store, { stream: WORKSPACE_STREAM }, { by: 'token', address: null }, refusal);
}

/** Stores only the hash of the secret. */
function issue(store: Store, token: Omit<StoredToken, 'ended_at'>): string {
  const secret = randomBytes(SECRET_BYTES).toString('hex');
  store.insert('mail_token', { hash: digestOfToken(secret), ...token, issued_at: store.clock.now() });
  return secret;
}

function digestOfToken(token: string): string {
  return hash('sha256', token, 'hex');
}

function noMember(runId: string, name: string): SquadError {
  return usageError(
    `${name} is not a member of the mailbox of run ${runId}.`,
    `List the members: \`squad mail status ${runId}\`.`,
  );
}

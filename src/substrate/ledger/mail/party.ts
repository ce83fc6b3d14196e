import { usageError } from '../../../model/errors.ts';
import type { MailMember } from '../../../model/mail/route.ts';
import { memberAt, type MailPolicy } from '../../../model/mail/policy.ts';
import { catchRefusal, refuse } from '../../../model/mail/refusal.ts';
import { ROUTER } from '../../../model/mail/vocabulary.ts';
import { findAttempt } from '../attempts.ts';
import type { Store } from '../store.ts';
import type { MailParty } from '../../ports/mailbox.ts';
import type { StoredMail } from './rows.ts';
import { epochOf, requirePolicy } from './session.ts';

/** The name of this party in keys and leases, which is unique and stays the same. */
export function partyKey(party: MailParty): string {
  switch (party.by) {
    case 'turn':
      return turnKey(party.attemptId);
    case 'pane':
      return `pane:${party.address}:${party.instance}`;
    case 'person':
      return `person:${party.address}:${party.name}`;
  }
}

const TURN = 'turn:';

/** The party of messages that the engine sends in the name of members. */
export const ENGINE = 'engine';

export function turnKey(attemptId: string): string {
  return `${TURN}${attemptId}`;
}

/** The turn that this party is; null: it is none. */
export function turnIdOf(party: MailParty): string | null {
  return party.by === 'turn' ? party.attemptId : null;
}

/** Whether a turn has it: a reader, or a sender. */
export function isTurnKey(key: string | null): boolean {
  return key?.startsWith(TURN) === true;
}

/** The sender of a message that a fork takes over. A turn of the parent has sent nothing to the fork. */
export function pastParty(party: string): string {
  return party.startsWith(TURN) ? `past-${party}` : party;
}

/** The turn that sent a message, or the key under which the engine did. */
export function originOf({ party, sent_key: key }: Pick<StoredMail, 'party' | 'sent_key'>): {
  attemptId: string | null;
  key: string | null;
} {
  return {
    attemptId: party.startsWith(TURN) ? party.slice(TURN.length) : null,
    key: party === ENGINE ? key : null,
  };
}

/** `agent_instance` of what it sends, for people: which turn of the agent (`A-01`), pane or person it is. */
export function instanceOf(store: Store, party: MailParty): string {
  switch (party.by) {
    case 'turn':
      return numbered(party.address, turnNumber(store, party.attemptId));
    case 'pane':
      return oneLine(party.instance);
    case 'person':
      return `${party.address}-${oneLine(party.name)}`;
  }
}

export function routerInstance(store: Store): string {
  return numbered(ROUTER, epochOf(store));
}

function numbered(name: string, number: number): string {
  return `${name}-${String(number).padStart(2, '0')}`;
}

/** Counts the turns of one agent in one run, from 1. */
function turnNumber(store: Store, attemptId: string): number {
  const sql = `SELECT count(*) FROM attempt AS own JOIN attempt AS other
      ON other.run_id = own.run_id AND other.agent = own.agent AND other.kind = 'turn' AND other.claim_seq <= own.claim_seq
    WHERE own.id = ?`;
  return store.value<number>(sql, attemptId) ?? 0;
}

function oneLine(name: string): string {
  const line = name.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ').slice(0, 150);
  return line === '' ? 'unnamed' : line;
}

/** Whom a party speaks as. */
export interface Authority {
  readonly policy: MailPolicy;
  readonly member: MailMember;
}

/** Refuses a party that may not speak any more. Throws `usage` where the run has no mailbox. */
export function authorityOf(store: Store, party: MailParty): Authority {
  const policy = requirePolicy(store, party.runId);
  const member = memberAt(policy, party.address);
  if (member === undefined) return refuse('not_authorized', '', 'this run has no such member');
  if (party.by === 'turn' && !isLiveTurn(store, party, member))
    refuse('not_authorized', '', 'the turn of this sender is over');
  if (party.by === 'pane' && !isOpenPane(store, party))
    refuse('not_authorized', '', 'the pane of this sender is closed');
  return { policy, member };
}

/** The member that this party reads as. Throws `usage` if it may not any more. */
export function requireReader(store: Store, party: MailParty): MailMember {
  const authority = catchRefusal(() => authorityOf(store, party));
  if (authority.ok) return authority.value.member;
  throw usageError(
    `The mail of ${party.address} cannot be read: ${authority.refusal.rule}.`,
    'A person at this machine can read it: `squad mail inbox`.',
  );
}

function isLiveTurn(store: Store, party: MailParty & { by: 'turn' }, member: MailMember): boolean {
  const attempt = findAttempt(store, party.attemptId);
  return attempt?.runId === party.runId && attempt.status !== 'settled' && attempt.agent === member.agent;
}

function isOpenPane(store: Store, party: MailParty & { by: 'pane' }): boolean {
  const sql = 'SELECT 1 FROM mail_token WHERE run_id = ? AND address = ? AND instance = ? AND ended_at IS NULL';
  return store.has(sql, party.runId, party.address, party.instance);
}

import type { MailMessage } from '../../../model/mail/envelope.ts';
import { redactDraft } from '../../../model/mail/redact-draft.ts';
import type { MailRefusal } from '../../../model/mail/refusal.ts';
import { requireLease } from '../leases.ts';
import { change as changeLedger, redactorOfRun, type Store } from '../store.ts';
import { guarded, readSnapshot } from '../transactions.ts';
import { failpoint } from '../../system/failpoint.ts';
import type { Mailbox, Delivery, MailStatus } from '../../ports/mailbox.ts';
import { accept } from './accept.ts';
import { readBody, sweepBodies } from './bodies.ts';
import { closeMailbox } from './closing.ts';
import { claim, inbox, messageFor, openAsk, unreadOf } from './inbox.ts';
import { originOf, requireReader, turnKey } from './party.ts';
import { isSettled, recordBeat, register, setAble, onlineAddresses } from './presence.ts';
import { deliveriesOf, mailWhere, toDelivery, toMessage, deliveriesWhere } from './rows.ts';
import { recordRefusal, refuseParty, send } from './send.ts';
import { findPolicy, openMailbox, readSession, requirePolicy } from './session.ts';
import { advance, nextDue } from './tick.ts';
import { bearerOf, closePane, issuePaneToken, issueTurnToken, recordBadToken } from './tokens.ts';
import { traceOf } from './trace.ts';
import { listTasks } from './effects.ts';

/** A redacted key could be another message's key too, so a key with a secret is refused. */
const SECRET_KEY: MailRefusal = { reason: 'invalid_format', field: 'key', rule: 'holds no secret' };

/** The router over the ledger's own file. Each method's work is in the file of its subject. */
export function createMailbox(store: Store): Mailbox {
  return { ...writers(store), ...readers(store) };
}

function writers(store: Store) {
  const change = <T>(work: () => T): T => {
    const result = changeLedger(store, () => {
      const value = work();
      failpoint('mail.before-commit');
      return value;
    });
    failpoint('mail.after-commit');
    return result;
  };
  return {
    open: (lease, policy) =>
      change(() => {
        openMailbox(store, lease, policy);
        sweepBodies(store);
      }),
    issueTurnToken: (lease, attemptId) => change(() => issueTurnToken(store, lease, attemptId)),
    issuePaneToken: (runId, address, instance) => change(() => issuePaneToken(store, runId, address, instance)),
    closePane: (token) => change(() => closePane(store, token)),
    bearer: (token) => {
      const party = readSnapshot(store.db, () => bearerOf(store, token));
      if (party === undefined) change(() => recordBadToken(store));
      return party;
    },
    send: (party, draft, key) => {
      const redactor = redactorOfRun(store, party.runId);
      const clean = redactDraft(draft, redactor);
      if (key !== undefined && redactor.text(key) !== key) return change(() => refuseParty(store, party, SECRET_KEY));
      return change(() => send(store, party, clean, key));
    },
    refuse: (party, refusal) => {
      const clean = redactorOfRun(store, party.runId).json(refusal);
      change(() => recordRefusal(store, { stream: party.runId }, party, clean));
    },
    claim: (party, options) => change(() => claim(store, party, options)),
    accept: (party, ids) => change(() => accept(store, party, ids)),
    register: (party, { windowName = null } = {}) =>
      change(() => register(store, party, requireReader(store, party).address, windowName)),
    beat: (party) => change(() => recordBeat(store, party, requireReader(store, party).address)),
    receivers: (lease, able) => {
      if (readSnapshot(store.db, () => isSettled(store, lease.runId, able))) return;
      change(() => {
        requireLease(store, lease);
        setAble(store, lease.runId, able);
      });
    },
    finish: (lease, cursor) =>
      change(() => {
        requireLease(store, lease);
        return closeMailbox(store, lease, cursor);
      }),
    tick: (runId) => {
      const next = readSnapshot(store.db, () => nextDue(store, runId));
      if (next === null || next > store.clock.now()) return 0;
      return change(() => advance(store, runId));
    },
  } satisfies Partial<Mailbox>;
}

function readers(store: Store) {
  const one = <T>(work: () => T): T => guarded(store.db, work);
  const several = <T>(work: () => T): T => readSnapshot(store.db, work);
  const messagesWhere = (where: string, value: string): MailMessage[] =>
    one(() => mailWhere(store, where, value).map((row) => toMessage(row)));
  return {
    policy: (runId) => one(() => findPolicy(store, runId)),
    session: (runId) => several(() => readSession(store, runId)),
    inbox: (party, limit) => several(() => inbox(store, party, limit)),
    messageFor: (party, id) => several(() => messageFor(store, party, id)),
    message: (id) => messagesWhere('id = ?', id)[0],
    bodyOf: (message) => (message.body_ref === undefined ? message.body : one(() => readBody(store, message.id))),
    deliveries: (id) =>
      several(() =>
        mailWhere(store, 'id = ?', id)
          .flatMap(({ seq }) => deliveriesOf(store, seq))
          .map((delivery) => toDelivery(store, delivery)),
      ),
    openAsk: (party, taskId) => several(() => openAsk(store, party, taskId)),
    replies: (corr) => messagesWhere('corr = ?', corr),
    sentBy: (attemptId) => messagesWhere('party = ?', turnKey(attemptId)),
    deferredBy: (attemptId) => messagesWhere('held = ?', attemptId),
    originOf: (id) => one(() => mailWhere(store, 'id = ?', id).map(originOf)[0]),
    unreadOf: (runId, recipients, limit) => several(() => unreadOf(store, runId, recipients, limit)),
    nextDue: (runId) => several(() => nextDue(store, runId)),
    trace: (where) => traceOf(store, where),
    status: (runId) => several(() => readStatus(store, runId)),
  } satisfies Partial<Mailbox>;
}

const MOST_LISTED = 200;
const UNREAD = "state IN ('waiting', 'leased')";
const UNANSWERED = "is_ask = 1 AND answer IS NULL AND state <> 'void' AND state <> 'dead' AND held = 0";

function readStatus(store: Store, runId: string): MailStatus {
  const policy = requirePolicy(store, runId);
  const online = onlineAddresses(store, runId, policy);
  const unread = unreadBy(store, runId);
  return {
    session: readSession(store, runId),
    members: policy.members.map(({ address, role, agent }) => ({
      address,
      role,
      agent,
      online: online.has(address),
      unread: unread.get(address)?.count ?? 0,
      oldestUnread: unread.get(address)?.oldest ?? null,
    })),
    tasks: listTasks(store, runId),
    unanswered: listed(store, runId, UNANSWERED),
    dead: listed(store, runId, "state = 'dead'"),
    counts: countsOf(store, runId, unread),
  };
}

interface Unread {
  readonly count: number;
  readonly oldest: number;
}

function unreadBy(store: Store, runId: string): Map<string, Unread> {
  const sql = `SELECT recipient, count, ts AS oldest FROM mail JOIN
    (SELECT recipient, count(*) AS count, min(mail_seq) AS first FROM mail_delivery
     WHERE run_id = ? AND ${UNREAD} AND held = 0 GROUP BY recipient) ON seq = first`;
  return new Map(store.all<Unread & { recipient: string }>(sql, runId).map((row) => [row.recipient, row]));
}

function listed(store: Store, runId: string, where: string): Delivery[] {
  const rows = deliveriesWhere(store, `run_id = ? AND ${where} ORDER BY mail_seq LIMIT ${MOST_LISTED}`, runId);
  return rows.map((row) => toDelivery(store, row));
}

function countsOf(store: Store, runId: string, unread: Map<string, Unread>): MailStatus['counts'] {
  const count = (rows: string): number => store.value<number>(`SELECT count(*) FROM ${rows}`, runId) ?? 0;
  return {
    messages: count('mail WHERE run_id = ?'),
    unread: [...unread.values()].reduce((sum, { count: own }) => sum + own, 0),
    dead: count("mail_delivery WHERE run_id = ? AND state = 'dead'"),
    refused: count("event WHERE stream = ? AND type = 'mail-refused'"),
  };
}

import { fc } from '@fast-check/vitest';
import { ROUTER } from '../../src/model/mail/vocabulary.ts';
import type { Mailbox, MailParty } from '../../src/substrate/ports/mailbox.ts';
import {
  answer,
  assign,
  clarify,
  done,
  MINUTE,
  note,
  openMailRoom,
  person,
  review,
  turnOf,
  verify,
  type MailRoom,
} from '../substrate/ledger/mail/support.ts';

// A run's mail as it may happen: people and turns of MAIN, A and B ask, answer, give up, read or leave unread, while turns complete
// or are lost, engines change, and time passes.

const MEMBERS = ['A', 'B'] as const;
const AGENTS = { MAIN: 'main', A: 'a', B: 'b' } as const;
const ADDRESSES = ['MAIN', ...MEMBERS] as const;
type Address = (typeof ADDRESSES)[number];

const at = fc.constantFrom(...ADDRESSES);
const ASKS = ['review', 'verify', 'assign', 'clarify', 'note'] as const;
const REPLIES = ['done', 'verified', 'issues', 'report', 'fail', 'answer'] as const;

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('ask' as const),
      from: at,
      kind: fc.constantFrom(...ASKS),
      both: fc.boolean(),
      task: fc.constantFrom('T1', 'T2', 'T3'),
      ttl: fc.constantFrom(MINUTE, 60 * MINUTE, 24 * 60 * MINUTE),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('reply' as const),
      from: at,
      kind: fc.constantFrom(...REPLIES),
      pick: fc.nat(9),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant('start' as const), at, carries: fc.integer({ min: 0, max: 3 }) }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('settle' as const), at, completed: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('read' as const), at, most: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('reader' as const), at, minutes: fc.integer({ min: 1, max: 70 }) }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('wait' as const), minutes: fc.integer({ min: -2, max: 90 }) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('takeover' as const) }) },
);
export type MailStep = typeof step extends fc.Arbitrary<infer T> ? T : never;

export function mailSteps(most: number): fc.Arbitrary<MailStep[]> {
  return fc.array(step, { minLength: 4, maxLength: most, size: 'max' });
}

export interface MailHistory {
  readonly room: MailRoom;
  /** Ends the live turns, as completed or lost. */
  endTurns(completed: boolean): void;
}

/** `step` is called after each step. */
export function playMail(
  steps: readonly MailStep[],
  after: (history: MailHistory) => void = () => undefined,
): MailHistory {
  const room = openMailRoom();
  const { mail, clock, ledger } = room;
  const live = new Map<Address, string>();
  let turns = 0;
  let { lease } = room;
  const partyOf = (address: Address): MailParty => {
    const turn = live.get(address);
    return turn === undefined ? person(address) : turnOf(address, turn);
  };
  const settle = (address: Address, completed: boolean): void => {
    const turn = live.get(address);
    if (turn === undefined) return;
    live.delete(address);
    room.settle(turn, completed ? 'completed' : 'failed');
  };
  const history: MailHistory = {
    room,
    endTurns: (completed) => {
      for (const address of live.keys()) settle(address, completed);
    },
  };
  for (const one of steps) {
    switch (one.op) {
      case 'ask':
        ask(room, partyOf(one.from), one);
        break;
      case 'reply':
        reply(mail, partyOf(one.from), one);
        break;
      case 'start': {
        if (live.has(one.at)) break;
        turns += 1;
        const id = `${one.at.toLowerCase()}-${turns}`;
        const handed = mail.unreadOf('r', [one.at], one.carries);
        room.turn(
          id,
          AGENTS[one.at],
          handed.map(({ message, recipient }) => ({ id: message.id, recipient })),
        );
        ledger.markSpawned(lease, id, processOf(turns), clock.time);
        live.set(one.at, id);
        break;
      }
      case 'settle':
        settle(one.at, one.completed);
        break;
      case 'read': {
        const read = mail.claim(partyOf(one.at), { limit: one.most, leaseMs: MINUTE });
        const dead = mail.inbox(partyOf(one.at)).filter(({ state }) => state === 'dead');
        mail.accept(
          partyOf(one.at),
          [...read, ...dead.slice(0, 1)].map(({ message }) => message.id),
        );
        break;
      }
      case 'reader':
        for (let minute = 0; minute < one.minutes; minute += 1) {
          mail.beat(person(one.at));
          clock.time += MINUTE;
          mail.tick('r');
        }
        break;
      case 'wait':
        clock.time += one.minutes * MINUTE;
        mail.tick('r');
        break;
      case 'takeover':
        lease = room.takeOver();
        break;
    }
    after(history);
  }
  return history;
}

function processOf(pid: number) {
  return { pid, startTime: '1', bootId: 'boot', marker: `m-${pid}` };
}

function ask(
  { mail, clock }: MailRoom,
  party: MailParty,
  { from, kind, both, task, ttl }: Extract<MailStep, { op: 'ask' }>,
): void {
  const to = from === 'MAIN' ? (both ? MEMBERS : (['A'] as const)) : (['MAIN'] as const);
  const more = { task_id: task, ttl_ms: ttl };
  const drafts = {
    review: () => review(to, more),
    verify: () => verify(to, more),
    assign: () => assign(to, clock.time + 50 * MINUTE, more),
    clarify: () => clarify({ ...more, to }),
    note: () => note('well', to),
  };
  // A member may not send all of them: a refusal changes nothing.
  mail.send(party, drafts[kind]());
}

function reply(mail: Mailbox, party: MailParty, { from, kind, pick }: Extract<MailStep, { op: 'reply' }>): void {
  const asked = [...mail.trace({})].flatMap((entry) =>
    entry.event === 'message' && entry.held === null && entry.message.to.includes(from) && entry.message.from !== ROUTER
      ? [entry.message]
      : [],
  );
  const message = asked[pick % Math.max(1, asked.length)];
  if (message === undefined) return;
  const more = { to: [message.from], ...(message.task_id === undefined ? {} : { task_id: message.task_id }) };
  const feedback = { doc_path: 'docs/design.md', has_issues: false, issues: [], summary: 'well' };
  const drafts = {
    done: () => done(message.id, more),
    verified: () => done(message.id, { ...more, action: 'verified', body: '{"has_new_issues":false}' }),
    issues: () =>
      done(message.id, { ...more, action: 'verified', body: '{"has_new_issues":true,"new_issue_count":1}' }),
    report: () => ({
      ...done(message.id, more),
      type: 'report' as const,
      action: 'review_feedback' as const,
      body: JSON.stringify(feedback),
    }),
    fail: () => ({ ...done(message.id, more), type: 'fail' as const, body: '{"reason":"no","blocked_by":[]}' }),
    answer: () => answer(message.id, [message.from]),
  };
  mail.send(party, drafts[kind]());
}

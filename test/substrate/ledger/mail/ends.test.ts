import { fc } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../../src/substrate/ports/ledger.ts';
import { ALL, spread } from '../../../support/lane.ts';
import { mailSteps, playMail } from '../../../support/mail-history.ts';
import { DAY, done, MINUTE, openMailRoom, person, sent, turnOf, verify, type MailRoom } from './support.ts';
import { decide, violations } from '../support.ts';

function statusOf({ mail }: MailRoom): string | undefined {
  return mail.status('r').tasks[0]?.status;
}

const said = (room: MailRoom, from: string, id: string, issues: boolean): void => {
  const body = JSON.stringify({ has_new_issues: issues, ...(issues ? { new_issue_count: 1 } : {}) });
  sent(room.mail.send(person(from), done(id, { action: 'verified', body })));
};
const gaveUp = (room: MailRoom, from: string, id: string): void => {
  const body = JSON.stringify({ reason: 'its turn ended without a report', blocked_by: [] });
  sent(room.mail.send(person(from), { to: ['MAIN'], type: 'fail', corr: id, body }));
};
/** Reads it, and says nothing for ten minutes. */
const silent = ({ mail, clock }: MailRoom, from: string, id: string): void => {
  mail.accept(person(from), [id]);
  clock.time += 10 * MINUTE;
  mail.tick('r');
};
/** Never reads it. */
const lost = ({ mail, clock }: MailRoom): void => {
  clock.time += DAY;
  while (mail.tick('r') > 0);
};

type End = (room: MailRoom, from: string, id: string) => void;
const ENDS: readonly (readonly [string, End, 'verified' | 'failed'])[] = [
  ['no new issue', (room, from, id) => said(room, from, id, false), 'verified'],
  ['a new issue', (room, from, id) => said(room, from, id, true), 'failed'],
  ['fail', gaveUp, 'failed'],
  ['silence', silent, 'verified'],
  ['lost', lost, 'failed'],
];
const PAIRS = ENDS.flatMap((one) => ENDS.map((other) => [one, other] as const));

describe('a verify', () => {
  it.each(PAIRS.map(([one, other]) => [one[0], other[0], one, other] as const))(
    'that ends with %s and %s is no longer pending',
    (_one, _other, [, first, is], [, second, was]) => {
      const room = openMailRoom();
      const id = sent(room.mail.send(person('MAIN'), verify(['A', 'B'])));
      expect(statusOf(room)).toBe('verify_pending');
      first(room, 'A', id);
      second(room, 'B', id);
      expect(statusOf(room)).toBe(is === 'failed' || was === 'failed' ? 'failed' : 'verified');
      expect(violations(room.path)).toEqual([]);
    },
  );

  it('that squad refuses has failed', () => {
    const room = openMailRoom();
    const id = sent(room.mail.send(person('MAIN'), verify(['A', 'B'])));
    const body = { reason: 'the council itself asks', blocked_by: [] };
    decide(room, { do: 'send-mail', key: 'no', mail: { from: 'ROUTER', to: ['MAIN'], type: 'fail', corr: id, body } });
    expect(statusOf(room)).toBe('failed');
  });

  it('of a run that is over has failed, and a later one begins anew', () => {
    const room = openMailRoom();
    sent(room.mail.send(person('MAIN'), verify(['A'])));
    expect(room.mail.finish(room.lease, room.ledger.lastSeq())).toBe(true);
    expect(statusOf(room)).toBe('failed');
    room.takeOver();
    const again = sent(room.mail.send(person('MAIN'), verify(['A'])));
    expect(statusOf(room)).toBe('verify_pending');
    said(room, 'A', again, false);
    expect(statusOf(room)).toBe('verified');
  });

  it('counts a late word over silence, but not once another ask has followed', () => {
    const room = openMailRoom();
    const first = sent(room.mail.send(person('MAIN'), verify(['A'])));
    silent(room, 'A', first);
    expect(statusOf(room)).toBe('verified');
    said(room, 'A', first, true);
    expect(statusOf(room)).toBe('failed');
    const second = sent(room.mail.send(person('MAIN'), verify(['A', 'B'])));
    silent(room, 'A', second);
    sent(room.mail.send(person('MAIN'), verify(['B'])));
    said(room, 'A', second, true);
    said(room, 'B', second, true);
    expect(statusOf(room)).toBe('verify_pending');
  });
});

describe('any history of mail', () => {
  it('leaves no task and no message in a state that nothing ends', ALL, () => {
    const property = fc.property(mailSteps(30), fc.boolean(), (steps, completed) => {
      const { room, endTurns } = playMail(steps);
      const { mail, clock, path } = room;
      endTurns(completed);
      // Every clock that runs comes to its end: of those without a reader, the time to live.
      for (let day = 0; day < 4; day += 1) {
        clock.time += DAY;
        for (let ticks = 0; mail.tick('r') > 0; ticks += 1) expect(ticks).toBeLessThan(1_000);
      }
      const { tasks, unanswered } = mail.status('r');
      const owed = new Set(unanswered.map(({ message }) => message.task_id));
      for (const { id, status } of tasks) {
        // A question stays open: squad asks again every half an hour.
        if (status === 'open' || status === 'verify_pending')
          throw new Error(`${id} is ${status}, owed: ${[...owed].join()}`);
      }
      expect(unanswered.filter(({ message }) => message.action !== 'clarify')).toEqual([]);
      for (const entry of mail.trace({})) {
        if (entry.event !== 'message') continue;
        expect(entry.held).toBeNull();
        const states = mail.deliveries(entry.message.id).map(({ state }) => state);
        expect(states.every((state) => ['accepted', 'dead', 'void'].includes(state))).toBe(true);
      }
      mail.finish(room.takeOver(), room.ledger.lastSeq());
      expect(violations(path)).toEqual([]);
    });
    fc.assert(property, { numRuns: spread(12, 400) });
  });
});

describe('the time of a verify', () => {
  const carried = (room: MailRoom, id: string, turn: string): Lease => {
    room.turn(turn, 'a', [{ id, recipient: 'A' }]);
    const lease = room.takeOver();
    room.ledger.markSpawned(lease, turn, { pid: 7, startTime: '1', bootId: 'b', marker: turn }, room.clock.time);
    return lease;
  };
  const answerOf = ({ mail }: MailRoom, id: string): string | null | undefined => mail.deliveries(id)[0]?.answer;
  const after = (room: MailRoom, minutes: number): number => {
    room.clock.time += minutes * MINUTE;
    return room.mail.tick('r');
  };

  it('begins when the turn that carries it begins, and not when this turn completes', () => {
    const room = openMailRoom();
    const id = sent(room.mail.send(person('MAIN'), verify(['A'])));
    expect(after(room, 60)).toBe(0);
    carried(room, id, 'a-1');
    expect(after(room, 9)).toBe(0);
    expect(after(room, 1)).toBe(1);
    expect(answerOf(room, id)).toBe('overdue');
    expect(statusOf(room)).toBe('verified');
    // The turn ends later, as squad ends it.
    room.settle('a-1', 'failed');
    expect(violations(room.path)).toEqual([]);
  });

  it('begins when its tool shows it, to a turn that had started before', () => {
    const room = openMailRoom();
    room.turn('a-1', 'a');
    const id = sent(room.mail.send(person('MAIN'), verify(['A'])));
    expect(after(room, 30)).toBe(0);
    expect(room.mail.claim(turnOf('A', 'a-1'), { limit: 5, leaseMs: MINUTE })).toHaveLength(1);
    expect(after(room, 4)).toBe(0);
    room.mail.accept(turnOf('A', 'a-1'), [id]);
    expect(after(room, 5)).toBe(0);
    expect(after(room, 1)).toBe(1);
  });

  it('does not count what a lost turn has read, nor the wait for the next one', () => {
    const room = openMailRoom();
    const id = sent(room.mail.send(person('MAIN'), verify(['A'])));
    carried(room, id, 'a-1');
    expect(after(room, 9)).toBe(0);
    room.settle('a-1', 'failed');
    // A limit, a pause: hours in which no turn starts.
    expect(after(room, 300)).toBe(0);
    expect(room.mail.deliveries(id)).toMatchObject([{ state: 'waiting', answerDue: null }]);
    carried(room, id, 'a-2');
    expect(after(room, 9)).toBe(0);
    room.settle('a-2');
    expect(room.mail.deliveries(id)).toMatchObject([{ state: 'accepted', answerDue: room.clock.time + MINUTE }]);
    expect(after(room, 1)).toBe(1);
  });

  it('stands still while no engine is there', () => {
    const room = openMailRoom();
    const id = sent(room.mail.send(person('MAIN'), verify(['A'])));
    const lease = carried(room, id, 'a-1');
    expect(after(room, 4)).toBe(0);
    room.ledger.renewLease(lease, 4 * MINUTE);
    room.clock.time += 300 * MINUTE;
    room.takeOver();
    expect(after(room, 5)).toBe(0);
    expect(after(room, 1)).toBe(1);
    expect(answerOf(room, id)).toBe('overdue');
  });
});

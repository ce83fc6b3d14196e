import { fc } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { openLedger } from '../../../../src/substrate/ledger/index.ts';
import type { Mailbox, MailParty } from '../../../../src/substrate/ports/mailbox.ts';
import { spread, SPREAD } from '../../../support/lane.ts';
import { decide, violations } from '../support.ts';
import { assign, DAY, note, openMailRoom, person, sent, turnOf } from './support.ts';

const REFUSED = {
  sent: false,
  refusal: { reason: 'not_authorized', field: '', rule: expect.stringContaining('no agent reads it') as string },
};

describe('the mailbox of a run that ends', () => {
  it('stays open for a message that came in after the cursor, which the run reads first', () => {
    const { mail, ledger, lease, clock, path } = openMailRoom();
    const cursor = ledger.lastSeq();
    const draft = assign(['A'], clock.time + DAY);
    const id = sent(mail.send(person('MAIN'), draft));
    expect(mail.finish(lease, cursor)).toBe(false);
    expect(mail.status('r').tasks).toMatchObject([{ id: 'F1', status: 'open' }]);
    expect(mail.finish(lease, ledger.lastSeq())).toBe(true);
    expect(mail.status('r').tasks).toMatchObject([{ id: 'F1', status: 'failed' }]);
    expect(mail.message(id)).toBeDefined();
    expect(violations(path)).toEqual([]);
  });

  it('waits for no message of the engine, and for none that a turn still holds', () => {
    const room = openMailRoom();
    const cursor = room.ledger.lastSeq();
    room.turn('t', 'main');
    sent(room.mail.send(turnOf('MAIN', 't'), assign(['A'], room.clock.time + DAY)));
    decide(room, { do: 'send-mail', key: 'k', mail: { from: 'MAIN', to: ['A'], type: 'send', body: { text: 'so' } } });
    expect(room.mail.finish(room.lease, cursor)).toBe(true);
  });

  it('refuses people and panes, also after its engine was killed, until another one takes the run', () => {
    const room = openMailRoom();
    const { mail, ledger, lease, clock, directory, path } = room;
    const pane = mail.bearer(mail.issuePaneToken('r', 'A', 'a window'));
    const senders: MailParty[] = [person('MAIN'), person('A'), pane!];
    const before = mail.send(person('MAIN'), note('well', ['A']), 'once');
    expect(mail.finish(lease, ledger.lastSeq())).toBe(true);
    const all = (box: Mailbox) =>
      senders.map((party) => box.send(party, note('x', party === senders[0] ? ['A'] : ['MAIN'])));
    expect(all(mail)).toEqual(senders.map(() => REFUSED));
    expect(mail.send(person('MAIN'), note('well', ['A']), 'once')).toEqual({ ...before, repeated: true });
    // What is on disk decides, and ending it twice is no other end.
    const other = openLedger(directory, { clock });
    expect(all(other.mail)).toEqual(senders.map(() => REFUSED));
    other.close();
    expect(mail.finish(lease, ledger.lastSeq())).toBe(true);
    expect(ledger.events({ stream: 'r' }).filter(({ type }) => type === 'mail-closed')).toHaveLength(1);
    room.takeOver();
    expect(all(mail)).toMatchObject(senders.map(() => ({ sent: true })));
    expect(violations(path)).toEqual([]);
  });

  it('loses nothing in any order of messages, ends and engines', SPREAD, () => {
    const steps = fc.array(fc.constantFrom('send', 'read', 'finish', 'engine', 'retry', 'pause'), { maxLength: 40 });
    const property = fc.property(steps, (all) => {
      const room = openMailRoom();
      let { lease } = room;
      let cursor = room.ledger.lastSeq();
      let isClosed = false;
      let unread = 0;
      for (const step of all) {
        if (step === 'send') {
          const { sent: isSent } = room.mail.send(person('MAIN'), note('x', ['A']));
          expect(isSent).toBe(!isClosed);
          if (isSent) unread += 1;
        } else if (step === 'read') {
          cursor = room.ledger.lastSeq();
          unread = 0;
        } else if (step === 'retry' || step === 'pause') {
          room.ledger.command('r', step, { task: 't' }, 'dana');
          if (step === 'retry') isClosed = false;
          unread += 1;
        } else if (step === 'engine') {
          lease = room.takeOver();
          isClosed = false;
        } else {
          const isEnd = room.mail.finish(lease, cursor);
          expect(isEnd).toBe(unread === 0);
          isClosed ||= isEnd;
        }
      }
      expect(violations(room.path)).toEqual([]);
    });
    fc.assert(property, { numRuns: spread(10, 300) });
  });
});

// @module-tag all
import { expect, test } from 'vitest';
import type { MailPolicy } from '../../../../src/model/mail/policy.ts';
import { SPREAD, spread } from '../../../support/lane.ts';
import { violations } from '../support.ts';
import { MINUTE, note, openMailRoom, person, sent } from './support.ts';

const MESSAGES = spread(2000, 10_000, 4_000);
const MEMBERS = 31;
/** Of a claim. */
const BATCH = 50;

/** MAIN and 31 members, who may all write to each other. */
function bigPolicy(): MailPolicy {
  const names = Array.from({ length: MEMBERS }, (_, index) => `m-${index}`);
  const members = names.map((name) => ({
    address: name,
    agent: name,
    role: 'member',
    verbs: ['send' as const],
    writesTo: ['main', 'member'],
  }));
  const main = { address: 'MAIN', agent: null, role: 'main', verbs: ['send' as const], writesTo: ['member'] };
  return { members: [main, ...members], ttlMs: 24 * 60 * MINUTE };
}

test(
  `T9 ${MESSAGES} messages of 32 members: each is read once, in the order of its sender, and the counts are right`,
  SPREAD,
  () => {
    const policy = bigPolicy();
    const room = openMailRoom(policy);
    const { mail } = room;
    const addresses = policy.members.map(({ address }) => address);
    // One write at a time would be thousands of times the disk's own wait: a fifth of them is sent to five at once.
    let messages = 0;
    const wanted = new Map<string, number>();
    for (let index = 0; messages < MESSAGES / 5; index += 1) {
      const from = addresses[index % addresses.length] ?? 'MAIN';
      const to = [1, 2, 3, 4, 5].map((step) => addresses[(index + step * 3) % addresses.length] ?? 'MAIN');
      sent(mail.send(person(from), note(String(index), to)));
      messages += 1;
      for (const address of to) wanted.set(address, (wanted.get(address) ?? 0) + 1);
    }
    expect([...wanted.values()].reduce((sum, count) => sum + count, 0)).toBe(MESSAGES);
    const before = mail.status('r');
    expect(before.counts).toMatchObject({ messages, unread: MESSAGES });
    expect(before.members.map(({ address, unread }) => [address, unread])).toEqual(
      addresses.map((address) => [address, wanted.get(address)]),
    );
    for (const address of addresses) {
      const last = new Map<string, number>();
      let read = 0;
      for (;;) {
        const letters = mail.claim(person(address), { limit: BATCH, leaseMs: MINUTE });
        if (letters.length === 0) break;
        for (const { message } of letters) {
          expect(message.seq).toBeGreaterThan(last.get(message.from) ?? 0);
          last.set(message.from, message.seq);
        }
        const ids = letters.map(({ message }) => message.id);
        expect(mail.accept(person(address), ids)).toEqual(ids);
        read += ids.length;
      }
      expect(read).toBe(wanted.get(address));
    }
    expect(mail.status('r').counts).toMatchObject({ messages, unread: 0 });
    let lines = 0;
    for (const line of mail.trace({ runId: 'r' })) lines += line.event === 'ack' ? 1 : 0;
    expect(lines).toBe(2 * MESSAGES);
    expect(violations(room.path)).toEqual([]);
  },
);

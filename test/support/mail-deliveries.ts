import { fc } from '@fast-check/vitest';
import { checkHistory } from './ledger-history.ts';
import type { Mailbox, MailParty, SendAnswer } from '../../src/substrate/ports/mailbox.ts';
import { note, openMailRoom, person, type MailRoom } from '../substrate/ledger/mail/support.ts';

const ADDRESSES = ['MAIN', 'A', 'B'] as const;
/** Long enough for some leases to outlive others, short enough for no letter to be given up within a run. */
const MOST_PAUSE_MS = 20_000;
const LEASE_MS = 15_000;

const address = fc.constantFrom(...ADDRESSES);

const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('send' as const), from: address, times: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('send-again' as const), pick: fc.nat(50) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('read' as const),
      at: address,
      reader: fc.constantFrom('one', 'other'),
      limit: fc.integer({ min: 1, max: 8 }),
      /** Of each letter: below 3 its ack is lost. */
      acks: fc.array(fc.nat(9), { minLength: 8, maxLength: 8 }),
      backwards: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('pause' as const), ms: fc.integer({ min: 1, max: MOST_PAUSE_MS }) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('old-epoch' as const), from: address }) },
);
export type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

export function operations(most: number): fc.Arbitrary<Operation[]> {
  return fc.array(operation, { minLength: 5, maxLength: most, size: 'max' });
}

interface Sent {
  readonly party: MailParty;
  readonly to: readonly string[];
  readonly key: string;
  readonly id: string;
}

/**
 * Sends each message up to five times, loses three acks of ten, lets leases run out and engines change, reads with two readers
 * for each recipient; then lets all be read. What recipients have made of it (they know a message by its id) is exactly
 * what was sent, once, and in the order of each sender. Throws what is not as it was promised.
 */
export function deliverAll(steps: readonly Operation[]): void {
  const room = openMailRoom();
  const { mail, clock } = room;
  const sent: Sent[] = [];
  const processed = new Map<string, { id: string; from: string; seq: number }[]>(ADDRESSES.map((at) => [at, []]));
  const process = (at: string, delivery: { message: { id: string; from: string; seq: number } }): void => {
    const own = processed.get(at) ?? [];
    const { id, from, seq } = delivery.message;
    if (!own.some((known) => known.id === id)) own.push({ id, from, seq });
  };
  for (const step of steps) {
    switch (step.op) {
      case 'send':
        sent.push(sendOften(mail, step, sent.length));
        break;
      case 'send-again':
        sendAgain(mail, sent[step.pick % Math.max(1, sent.length)]);
        break;
      case 'read': {
        const reader = person(step.at, 'r', step.reader);
        const letters = mail.claim(reader, { limit: step.limit, leaseMs: LEASE_MS });
        for (const letter of letters) process(step.at, letter);
        const kept = letters.filter((_, index) => (step.acks[index] ?? 0) >= 3).map(({ message }) => message.id);
        mail.accept(reader, step.backwards ? kept.toReversed() : kept);
        break;
      }
      case 'pause':
        clock.time += step.ms;
        for (const at of ADDRESSES) mail.beat(person(at));
        mail.tick('r');
        break;
      case 'restart':
        room.ledger.acquireLease('r', 'next');
        break;
      case 'old-epoch':
        replayOldEpoch(room, step.from);
        break;
    }
  }
  drain(room, process);
  judge(room, sent, processed);
}

function recipientsOf(from: string): readonly string[] {
  return from === 'MAIN' ? ['A', 'B'] : ['MAIN'];
}

function sendOften(mail: Mailbox, { from, times }: { from: string; times: number }, index: number): Sent {
  const message = { party: person(from), to: recipientsOf(from), key: `key-${index}` };
  const first = sendOne(mail, message);
  for (let time = 1; time < times; time += 1) sendAgain(mail, { ...message, id: first });
  return { ...message, id: first };
}

function sendOne(mail: Mailbox, { party, to, key }: Omit<Sent, 'id'>): string {
  const answer = mail.send(party, note(key, to), key);
  if (!answer.sent || answer.repeated) throw new Error(`not sent as new: ${JSON.stringify(answer)}`);
  return answer.message.id;
}

function sendAgain(mail: Mailbox, message: Sent | undefined): void {
  if (message === undefined) return;
  const answer: SendAnswer = mail.send(message.party, note(message.key, message.to), message.key);
  if (answer.sent && answer.repeated && answer.message.id === message.id) return;
  throw new Error(`a repeat is a message of its own: ${JSON.stringify(answer)}`);
}

function replayOldEpoch({ mail }: MailRoom, from: string): void {
  const old = mail.session('r').epoch - 1;
  const answer = mail.send(person(from), { ...note('old', recipientsOf(from)), epoch: old });
  if (answer.sent || answer.refusal.field !== 'epoch') throw new Error(`epoch ${old} was taken`);
}

function drain(
  { mail, clock }: MailRoom,
  process: (at: string, delivery: ReturnType<Mailbox['claim']>[number]) => void,
): void {
  clock.time += LEASE_MS;
  for (const at of ADDRESSES) {
    for (;;) {
      const letters = mail.claim(person(at), { limit: 50, leaseMs: LEASE_MS });
      if (letters.length === 0) break;
      for (const letter of letters) process(at, letter);
      mail.accept(
        person(at),
        letters.map(({ message }) => message.id),
      );
    }
  }
}

function judge(
  { mail, path }: MailRoom,
  sent: readonly Sent[],
  processed: ReadonlyMap<string, readonly { id: string; from: string; seq: number }[]>,
): void {
  for (const [at, letters] of processed) {
    const wanted = sent.filter(({ to }) => to.includes(at)).map(({ id }) => id);
    const got = letters.map(({ id }) => id);
    if (JSON.stringify(got.toSorted()) !== JSON.stringify(wanted.toSorted())) {
      throw new Error(`${at} was sent ${wanted.join(' ')} and read ${got.join(' ')}`);
    }
    const last = new Map<string, number>();
    for (const { from, seq } of letters) {
      if (seq < (last.get(from) ?? 0)) throw new Error(`${at} read ${seq} of ${from} after ${last.get(from)}`);
      last.set(from, seq);
    }
    if (mail.inbox(person(at)).length > 0) throw new Error(`${at} has letters left`);
  }
  const wrong = checkHistory(path);
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong));
}

import { randomBytes } from 'node:crypto';
import { ROUTER_FIELDS } from '../../src/model/mail/envelope.ts';
import { assign, note, openMailRoom, POLICY, turnOf, type MailRoom } from '../substrate/ledger/mail/support.ts';

/** Events of refusals since `after`, in the run's stream or the workspace's. */
function refusals({ ledger }: MailRoom, after: number): number {
  return ledger.events({ after }).filter(({ type }) => type === 'mail-refused').length;
}

interface Forgery {
  readonly room: MailRoom;
  /** Whether anything was accepted. */
  readonly attempt: (index: number) => boolean;
}

export const FORGERIES: readonly [string, () => Forgery][] = [
  [
    'a field that says who sends it, or what the router makes',
    () => {
      const room = openMailRoom();
      room.turn('a-1', 'a');
      const fields = [...ROUTER_FIELDS, 'sender', 'role', 'as', 'FROM', 'agent'] as const;
      const values = ['MAIN', 1, 'MAIN-01', { address: 'MAIN' }, null];
      return {
        room,
        attempt: (index) => {
          const forged = { ...note(), [fields[index % fields.length] ?? 'from']: values[index % values.length] };
          return room.mail.send(turnOf('A', 'a-1'), forged).sent;
        },
      };
    },
  ],
  [
    'a party that the store does not know as its own',
    () => {
      const room = openMailRoom();
      room.turn('a-1', 'a');
      const addresses = POLICY.members.map(({ address }) => address).filter((address) => address !== 'A');
      const order = assign(['A', 'B'], room.clock.time + 60_000);
      return {
        room,
        attempt: (index) => {
          const address = addresses[index % addresses.length] ?? 'MAIN';
          return room.mail.send(turnOf(address, index % 2 === 0 ? 'a-1' : `none-${index}`), order).sent;
        },
      };
    },
  ],
  [
    'the token of an attempt before',
    () => {
      const room = openMailRoom();
      room.turn('a-1', 'a');
      const old = room.mail.issueTurnToken(room.lease, 'a-1');
      room.mail.issueTurnToken(room.lease, 'a-1');
      return { room, attempt: () => room.mail.bearer(old) !== undefined };
    },
  ],
  [
    'another’s token after its turn was settled',
    () => {
      const room = openMailRoom();
      room.turn('b-1', 'b');
      const other = room.mail.issueTurnToken(room.lease, 'b-1');
      const party = room.mail.bearer(other);
      room.settle('b-1');
      return {
        room,
        attempt: (index) =>
          index % 2 === 0 || party === undefined
            ? room.mail.bearer(other) !== undefined
            : room.mail.send(party, note(), `k-${index}`).sent,
      };
    },
  ],
  [
    'a random token, or one that is nearly right',
    () => {
      const room = openMailRoom();
      room.turn('a-1', 'a');
      const token = room.mail.issueTurnToken(room.lease, 'a-1');
      const near = [
        token.slice(1),
        `${token}0`,
        token.toUpperCase().replace(/^./, 'G'),
        '',
        'undefined',
        "' OR 1=1 --",
      ];
      return {
        room,
        attempt: (index) =>
          room.mail.bearer(index % 2 === 0 ? randomBytes(32).toString('hex') : (near[index % near.length] ?? '')) !==
          undefined,
      };
    },
  ],
];

/** How many of so many tries were accepted, and how many are on record as refused. */
export function forge(
  forgeryOf: () => Forgery,
  tries: number,
): { accepted: number; recorded: number; sent: number; room: MailRoom } {
  const { room, attempt } = forgeryOf();
  const before = room.ledger.lastSeq();
  let accepted = 0;
  for (let index = 0; index < tries; index += 1) if (attempt(index)) accepted += 1;
  return { accepted, recorded: refusals(room, before), sent: room.mail.status('r').counts.messages, room };
}

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openMachine } from '../../../src/engine/machine.ts';
import { PEOPLE_KINDS } from '../../../src/model/people/kinds.ts';
import { messageSchema } from '../../../src/model/people/message.ts';
import type { Right } from '../../../src/model/people/verbs.ts';
import { createRedactor } from '../../../src/model/redaction/redactor.ts';
import { bindWorkspace, lookIn, openWorkspace, withLedger } from '../../../src/squad/open-workspace.ts';
import { followPeople } from '../../../src/squad/people/follow-people.ts';
import { createIntake } from '../../../src/squad/people/intake.ts';
import type { IncomingFile, IncomingMessage } from '../../../src/substrate/ports/channel.ts';
import { roomForTest } from '../../cli/room.ts';
import { testHost } from '../../support/test-host.ts';

const CANARY = 'canary-token-of-a-bot-0123456789';
const NOW = Date.now();

async function openIntake(messagesPerHour = 30) {
  const { repository, root } = roomForTest();
  const host = testHost(root, { workingDirectory: repository });
  const workspace = bindWorkspace(await openWorkspace({ host, composition: openMachine(host) }));
  const { directory, composition } = workspace;
  const redactor = createRedactor([CANARY]);
  const place = { directory, composition: { ...composition, redactor: () => redactor } };
  const said: string[] = [];
  const senders: Record<string, Right[]> = { ann: ['ask'] };
  /** As another process that begins. */
  const open = () =>
    createIntake({
      ...{ name: 'c', settings: { senders, messagesPerHour }, directory, clock: composition.clock, redactor },
      follow: followPeople(),
      read: (work) => lookIn(workspace, work),
      write: async (work) => withLedger(place, 'write', work),
      say: (text) => void said.push(text),
    });
  const messages = () =>
    lookIn(workspace, (ledger) =>
      ledger.records(PEOPLE_KINDS.message).map(({ id, value }) => ({ id, ...messageSchema.parse(value) })),
    ) ?? [];
  return { open, messages, said, directory };
}

const message = (id: string, more: Partial<IncomingMessage> = {}): IncomingMessage => ({
  ...{ id, sender: 'ann', name: 'Ann', place: 'p', text: 'status', isToUs: true, attachments: [], at: NOW },
  ...more,
});
const file = (
  name: string,
  bytes: number,
  read: IncomingFile['read'] = async () => new Uint8Array(bytes),
): IncomingFile => ({
  name,
  bytes,
  read,
});

it('takes each message once, also by another process, with how far its place is read', async () => {
  const { open, messages } = await openIntake();
  const first = open();
  expect(first.after()).toEqual(new Map());
  await first.take(message('1'));
  await first.take(message('1', { text: 'edited since' }));
  const second = open();
  expect(second.after()).toEqual(new Map([['p', '1']]));
  await second.take(message('1'));
  await second.take(message('2', { place: 'q:r', text: `my token is ${CANARY}` }));
  expect(second.after()).toEqual(
    new Map([
      ['p', '1'],
      ['q:r', '2'],
    ]),
  );
  expect(messages()).toMatchObject([
    { id: 'c:1', channel: 'c', sender: 'ann', place: 'p', text: 'status' },
    { id: 'c:2', place: 'q:r', text: 'my token is [redacted]' },
  ]);
});

it('is silent to strangers, with one line in the log, and reads nothing of them or of others', async () => {
  const { open, messages, said } = await openIntake();
  const intake = open();
  const read = async (): Promise<Uint8Array> => {
    throw new Error('it was read');
  };
  for (const id of ['1', '2', '3'])
    await intake.take(message(id, { sender: 'eve', attachments: [file('a', 1, read)] }));
  await intake.take(message('4', { isToUs: false }));
  expect(messages()).toEqual([]);
  expect(said).toEqual(['c: eve is no sender of it, and is not heard']);
  expect(intake.after()).toEqual(new Map([['p', '4']]));
});

it('gives one notice to a sender above the number, also after a new start', async () => {
  const { open, messages } = await openIntake(2);
  const intake = open();
  for (const id of ['1', '2', '3', '4']) await intake.take(message(id));
  await open().take(message('5'));
  await open().take(message('6', { at: NOW - 2 * 3_600_000 }));
  expect(messages().map(({ id, refused }) => `${id} ${refused?.slice(0, 20) ?? 'taken'}`)).toEqual([
    'c:1 taken',
    'c:2 taken',
    'c:3 You sent more than 2',
    'c:4 ',
    'c:5 ',
    'c:6 taken',
  ]);
});

it.each<[string, IncomingFile, RegExp]>([
  ['of 25 MiB and a byte', file('big.bin', 25 * 1024 * 1024 + 1), /"big\.bin" cannot be attached: it is larger/],
  ['that is larger than it said', file('big.bin', 1, async () => new Uint8Array(25 * 1024 * 1024 + 1)), /it is larger/],
  ['that leads elsewhere', file('../../etc/passwd', 3), /its name is a path/],
  [
    'that cannot be had',
    file('a.txt', 3, async () => Promise.reject(new Error('the address is private'))),
    /the address is private/,
  ],
])('refuses a message with a file %s as a whole', async (_what, bad, says) => {
  const { open, messages, directory } = await openIntake();
  await open().take(message('1', { attachments: [file('good.txt', 3), bad] }));
  expect(messages()).toMatchObject([{ id: 'c:1', attachments: [], refused: expect.stringMatching(says) as unknown }]);
  expect(listed(join(directory, 'attachments'))).toEqual([]);
});

it('keeps the files of a message', async () => {
  const { open, messages, directory } = await openIntake();
  await open().take(message('1', { attachments: [file('good.txt', 3), file('other.txt', 4)] }));
  expect(messages()[0]?.attachments).toMatchObject([
    { name: 'good.txt', bytes: 3 },
    { name: 'other.txt', bytes: 4 },
  ]);
  expect(listed(join(directory, 'attachments'))).toHaveLength(2);
});

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

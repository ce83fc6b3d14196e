import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createMailFiles } from '../../../src/engine/sinks/folder-sink.ts';
import { createRedactor } from '../../../src/model/redaction/redactor.ts';
import { mailRoom } from '../../cli/mail/room.ts';
import { done, openMailRoom, person, review, sent, turnOf } from '../../substrate/ledger/mail/support.ts';

const SECRET = 'hunter2-hunter2-hunter2';

it('has the messages of a run in the form of `squad mail trace --export`, and reads each once', async () => {
  const room = mailRoom(undefined, true);
  const { ledger, id, lease } = room.recorded;
  const read = createMailFiles(ledger, id, createRedactor([SECRET]));
  expect(read()).toEqual([]);
  const say = (body: string): void => {
    const draft = { to: ['A'], type: 'send', body: JSON.stringify({ text: body }) };
    expect(ledger.mail.send(room.person('MAIN'), draft)).toMatchObject({ sent: true });
  };
  say('one');
  const [first] = read();
  say(`two, and ${SECRET}`);
  say('three '.repeat(2_000));
  const files = read();
  expect(read()).toEqual(files);
  expect(files.at(-1)?.text.startsWith(first?.text ?? '-')).toBe(true);
  expect(files.map(({ text }) => text).join('')).not.toContain(SECRET);
  ledger.releaseLease(lease);
  room.recorded.close();
  const folder = join(room.root, 'mail');
  await room.run(['mail', 'trace', '--export', folder], { SERVICE_API_KEY: SECRET });
  const [log = ''] = readdirSync(join(folder, 'logs')).filter((name) => name.startsWith('messages-'));
  const [blob = ''] = readdirSync(join(folder, 'blobs'));
  expect(files).toEqual([
    { path: `.msg/blobs/${blob}`, text: readFileSync(join(folder, 'blobs', blob), 'utf8') },
    { path: '.msg/messages.jsonl', text: readFileSync(join(folder, 'logs', log), 'utf8') },
  ]);
});

it('has a message once that another process sends while it reads', async () => {
  const room = mailRoom(undefined, true);
  const { ledger, id, lease } = room.recorded;
  const draft = { to: ['A'], type: 'send', body: JSON.stringify({ text: 'one' }) } as const;
  let isSent = false;
  const busy = {
    mail: ledger.mail,
    lastSeq: () => ledger.lastSeq(),
    events: (where: Parameters<typeof ledger.events>[0]) => {
      if (!isSent) expect(ledger.mail.send(room.person('MAIN'), draft)).toMatchObject({ sent: true });
      isSent = true;
      return ledger.events(where);
    },
  };
  const read = createMailFiles(busy, id, createRedactor([]));
  const files = read();
  expect(files.map(({ text }) => text.trim().split('\n').length)).toEqual([1]);
  expect(read()).toEqual(files);
  ledger.releaseLease(lease);
  room.recorded.close();
});

it('has no message of a turn before the turn has completed, and none of a lost one', () => {
  const room = openMailRoom();
  const { mail, ledger } = room;
  const read = createMailFiles(ledger, 'r', createRedactor([]));
  const asked = sent(mail.send(person('MAIN'), review(['A', 'B'])));
  room.turn('a-1', 'a');
  room.turn('b-1', 'b');
  sent(mail.send(turnOf('A', 'a-1'), done(asked)));
  const kept = sent(mail.send(turnOf('B', 'b-1'), done(asked)));
  const ids = (): string[] =>
    (read().at(-1)?.text ?? '')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
  expect(ids()).toEqual([asked]);
  room.settle('a-1', 'failed');
  room.settle('b-1');
  expect(ids()).toEqual([asked, kept]);
});

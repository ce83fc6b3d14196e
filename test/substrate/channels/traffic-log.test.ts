import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createRedactor } from '../../../src/model/redaction/redactor.ts';
import { withTraffic } from '../../../src/substrate/channels/traffic-log.ts';
import type { Channel, IncomingMessage } from '../../../src/substrate/ports/channel.ts';

const SECRET = 'a-canary-that-no-file-may-have-5151';
const NOON = Date.parse('2026-11-29T12:00:00Z');
const MOST = 5 * 1024 * 1024;

const MESSAGE: IncomingMessage = {
  ...{ id: '7', sender: '1', name: 'alice', place: '2', text: `hello ${SECRET}`, isToUs: true, at: NOON },
  attachments: [{ name: 'a.txt', bytes: 3, read: async () => new Uint8Array() }],
};

/** A channel that hands in one message. */
const channel: Channel = {
  longest: 10,
  listen: async ({ take, say, state }) => {
    state('lost', 'no network');
    say('another one speaks');
    await take(MESSAGE);
  },
  send: async ({ text }) =>
    text === 'gone' ? { did: 'refused', why: `no such place ${SECRET}`, gone: true } : { did: 'posted' },
  directPlace: async () => undefined,
  history: async function* () {},
};

function room() {
  const root = mkdtempSync(join(tmpdir(), 'squad-traffic-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'logs/discord');
  const clock = { ms: NOON, now: () => clock.ms };
  const ports = { folder, redactor: createRedactor([SECRET]), clock };
  const lines = (day: string): object[] =>
    readFileSync(join(folder, `${day}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
  return { root, folder, clock, lines, logged: withTraffic(channel, 'team', ports) };
}

const listening = {
  after: () => new Map<string, string>(),
  take: async () => undefined,
  passed: async () => undefined,
  state: () => undefined,
  say: () => undefined,
};

it('has what comes in, what goes out and what people should see, without secrets, for this user alone', async () => {
  const { logged, lines, folder } = room();
  await logged.listen(listening, AbortSignal.timeout(1_000));
  await logged.send({ place: '2', text: `answer ${SECRET}`, nonce: 'n' });
  await logged.send({ place: '2', text: 'gone', nonce: 'm' });
  const at = '2026-11-29T12:00:00.000Z';
  const common = { at, channel: 'team' };
  expect(lines('2026-11-29')).toEqual([
    { ...common, event: 'lost', why: 'no network' },
    { ...common, event: 'another one speaks' },
    {
      ...{ ...common, in: '7', sender: '1', name: 'alice', place: '2', text: 'hello [redacted]' },
      files: [{ name: 'a.txt', bytes: 3 }],
    },
    { ...common, out: 'n', place: '2', text: 'answer [redacted]', did: 'posted' },
    { ...common, out: 'm', place: '2', text: 'gone', did: 'refused', why: 'no such place [redacted]' },
  ]);
  expect(statSync(join(folder, '2026-11-29.jsonl')).mode & 0o777).toBe(0o600);
});

it('has a bounded file for each day, and those of fourteen days', async () => {
  const { logged, lines, folder, clock } = room();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '2026-11-29.jsonl'), `{"x":"${'x'.repeat(MOST - 10)}"}\n`);
  for (let times = 0; times < 3; times += 1) await logged.send({ place: '2', text: 'more', nonce: 'n' });
  expect(lines('2026-11-29').slice(1)).toEqual([
    { at: '2026-11-29T12:00:00.000Z', event: 'more is left out of this file' },
  ]);
  writeFileSync(join(folder, 'of-a-person.txt'), 'kept');
  for (let day = 1; day <= 20; day += 1) {
    clock.ms = NOON + day * 86_400_000;
    await logged.send({ place: '2', text: 'a day later', nonce: 'n' });
  }
  const found = readdirSync(folder).sort();
  expect([found.length, found[0], found.at(-1)]).toEqual([15, '2026-12-06.jsonl', 'of-a-person.txt']);
});

it('follows no link, and goes without a file that cannot be written', async () => {
  const { root, folder, logged } = room();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(root, 'elsewhere'), 'as it was');
  symlinkSync(join(root, 'elsewhere'), join(folder, '2026-11-29.jsonl'));
  expect(await logged.send({ place: '2', text: 'x', nonce: 'n' })).toEqual({ did: 'posted' });
  expect(readFileSync(join(root, 'elsewhere'), 'utf8')).toBe('as it was');
});

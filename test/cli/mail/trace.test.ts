import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { messageSchema } from '../../../src/model/mail/envelope.ts';
import { runStatusSchema } from '../../../src/view/status.ts';
import { openLedger } from '../../../src/substrate/ledger/index.ts';
import { shell } from '../room.ts';
import { mailRoom, type MailRoom } from './room.ts';
import { ALL } from '../../support/lane.ts';

/** Two tasks: one is asked about and answered, with a long body; of the other nobody has read a word. */
function talk(): MailRoom {
  const room = mailRoom();
  const { recorded } = room;
  const person = (address: string) => room.person(address);
  const ledger = openLedger(recorded.directory, { clock: { now: () => Date.now() } });
  const clarify = (address: string, task: string, question: string) => {
    const body = JSON.stringify({ code_path: '-', question, context: 'c' });
    const draft = { to: ['MAIN'], type: 'ask', action: 'clarify', task_id: task, body };
    const sent = ledger.mail.send(person(address), draft);
    if (!sent.sent) throw new Error(sent.refusal.rule);
    return sent.message.id;
  };
  const first = clarify('A', 'T-1', 'one?');
  clarify('B', 'T-2', 'two?');
  ledger.mail.accept(person('MAIN'), [first]);
  const body = JSON.stringify({ text: 'x'.repeat(5000), reason: 'so' });
  ledger.mail.send(person('MAIN'), { to: ['A'], type: 'send', action: 'answer', corr: first, body });
  ledger.close();
  return room;
}

const WITH_CODES = /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}/;

describe('squad mail trace', () => {
  it('prints what was sent and what became of it, oldest first', async () => {
    const room = talk();
    const { stdout, code } = await room.run(['mail', 'trace']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.every((line) => WITH_CODES.test(line))).toBe(true);
    expect(lines.map((line) => line.replace(WITH_CODES, '').slice(0, 26))).toEqual([
      'from:A | question:one? | d',
      'delivered  #1 → MAIN',
      'from:B | question:two? | d',
      'delivered  #2 → MAIN',
      'accepted  #1 → MAIN',
      'from:MAIN | send/answer | ',
      'delivered  #3 → A',
    ]);
    expect(code).toBe(0);
  });

  it.each<[string, string[], number[]]>([
    ['--task', ['--task', 'T-2'], [2]],
    ['--corr with its answers, by number', ['--corr', '#1'], [1, 3]],
    ['--after', ['--after', '1'], [2, 3]],
  ])('%s', async (_title, args, expected) => {
    const room = talk();
    const { lines } = await room.run(['mail', 'trace', '--json', ...args]);
    expect(lines.flatMap(({ event, seq }) => (event === 'message' ? [seq] : []))).toEqual(expected);
    const shown = new Set(expected);
    const acks = lines.filter(({ event }) => event === 'ack');
    expect(acks.length).toBeGreaterThan(0);
    expect(acks.every(({ id }) => shown.has(Number(String(id).split('-').at(-1))))).toBe(true);
  });

  it('ends quietly when its reader has had enough', ALL, async () => {
    const room = talk();
    expect(await shell(room, 'squad mail trace | head -n 1')).toMatchObject({ code: 0, stderr: '' });
  });
});

const ackSchema = z.strictObject({
  event: z.literal('ack'),
  id: z.string(),
  ack: z.enum(['delivered', 'accepted']),
  agent: z.string(),
  ts: z.int().positive(),
});
const inboxSchema = z.strictObject({ event: z.enum(['deliver', 'accepted']), id: z.string(), ts: z.int().positive() });

function linesOf(folder: string, name: string): Record<string, unknown>[] {
  const text = readFileSync(join(folder, name), 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)));
}

function jsonOf(folder: string, name: string): unknown {
  return JSON.parse(readFileSync(join(folder, name), 'utf8'));
}

describe('squad mail trace --export', () => {
  it('writes the logs of the specification', async () => {
    const room = talk();
    const folder = join(room.root, 'mail');
    expect((await room.run(['mail', 'trace', '--export', folder])).stdout).toBe(`3 messages and 4 acks in ${folder}\n`);
    const messages = room.messages();
    const [first] = messages;
    const epoch = first?.epoch ?? -1;
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.jsonl?$/.test(name));
    expect(files.toSorted()).toEqual([
      `blobs/${messages[2]?.id}.json`,
      'inbox/A.jsonl',
      'inbox/MAIN.jsonl',
      `logs/acks-${epoch}.jsonl`,
      `logs/messages-${epoch}.jsonl`,
      'meta/session.json',
      'state/delivery.json',
      'state/router.json',
      'state/tasks.json',
    ]);
    const logged = linesOf(folder, `logs/messages-${epoch}.jsonl`).map(({ event, body_ref: ref, ...message }) => {
      expect(event).toBe('message');
      expect(Object.keys(message)).toEqual(expect.arrayContaining(['action', 'task_id', 'owner', 'deadline', 'corr']));
      const said = Object.fromEntries(
        Object.entries({ ...message, body_ref: ref }).filter(([, value]) => value !== null),
      );
      return messageSchema.parse(said);
    });
    const elsewhere = { body_ref: undefined };
    expect(logged.map((one) => ({ ...one, ...elsewhere }))).toEqual(messages.map((one) => ({ ...one, ...elsewhere })));
    expect(logged.map(({ body_ref: ref }) => ref)).toEqual([undefined, undefined, `blobs/${messages[2]?.id}.json`]);
    expect(jsonOf(folder, `blobs/${messages[2]?.id}.json`)).toMatchObject({ id: messages[2]?.id });
    const acks = linesOf(folder, `logs/acks-${epoch}.jsonl`).map((line) => ackSchema.parse(line));
    expect(acks.map(({ ack, agent }) => `${ack} ${agent}`)).toEqual([
      'delivered MAIN',
      'delivered MAIN',
      'accepted MAIN',
      'delivered A',
    ]);
    const inbox = linesOf(folder, 'inbox/MAIN.jsonl').map((line) => inboxSchema.parse(line));
    expect(inbox.map(({ event, id }) => [event, id])).toEqual([
      ['deliver', first?.id],
      ['deliver', messages[1]?.id],
      ['accepted', first?.id],
    ]);
    expect(jsonOf(folder, 'meta/session.json')).toEqual({
      session_id: first?.session,
      created_at: expect.any(Number) as number,
      workspace: room.repository,
      roles: { MAIN: 'main', A: 'member', B: 'member' },
    });
    expect(jsonOf(folder, 'state/router.json')).toEqual({ epoch, last_seq: 3, last_ts: messages[2]?.ts });
    expect(jsonOf(folder, 'state/tasks.json')).toEqual({});
    const state = { retry_count: 0, last_ts: expect.any(Number) as number };
    expect(jsonOf(folder, 'state/delivery.json')).toEqual({
      [messages[0]?.id ?? '']: { MAIN: { status: 'accepted', ...state } },
      [messages[1]?.id ?? '']: { MAIN: { status: 'delivered', ...state } },
      [messages[2]?.id ?? '']: { A: { status: 'delivered', ...state } },
    });
  });

  it('has the retries and the end of each delivery', async () => {
    const room = mailRoom();
    const time = { now: Date.now() };
    const ledger = openLedger(room.recorded.directory, { clock: { now: () => time.now } });
    const { mail } = ledger;
    const sent = mail.send(room.person('A'), { to: ['MAIN'], type: 'send', body: '{}' });
    const [message] = room.messages();
    for (let beat = 0; mail.deliveries(message?.id ?? '')[0]?.state !== 'dead' && beat < 200; beat += 1) {
      mail.beat(room.person('MAIN'));
      time.now += 30_000;
      mail.tick(room.recorded.id);
    }
    ledger.close();
    expect(sent.sent).toBe(true);
    const folder = join(room.root, 'mail');
    await room.run(['mail', 'trace', '--export', folder]);
    expect(jsonOf(folder, 'state/delivery.json')).toMatchObject({
      [message?.id ?? '']: { MAIN: { status: 'failed', retry_count: 5, last_ts: time.now } },
    });
  });

  it('takes secrets out', ALL, async () => {
    const room = mailRoom();
    const secret = 'correct-horse-battery-staple-4711';
    await room.run(['mail', 'say', '--as', 'a', `the key is ${secret}`]);
    const folder = join(room.root, 'mail');
    await room.run(['mail', 'trace', '--export', folder], { SERVICE_API_KEY: secret });
    const log = readFileSync(join(folder, 'logs', `messages-${room.messages()[0]?.epoch}.jsonl`), 'utf8');
    expect(log).toContain('the key is [redacted]');
    expect(log).not.toContain(secret);
  });

  it('is refused by a folder that holds something, which stays as it was', async () => {
    const room = talk();
    const folder = join(room.root, 'mine');
    mkdirSync(folder);
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    const end = await room.run(['mail', 'trace', '--export', folder]);
    expect(end.stderr).toMatch(/mine is not empty\nNext: .*--export \.\/mail/);
    expect(end.code).toBe(2);
    expect(readdirSync(folder)).toEqual(['notes.txt']);
  });
});

describe('squad status', () => {
  it('says what is unread, not answered and given up', async () => {
    const room = talk();
    const [line] = (await room.run(['status', '--json'])).lines;
    const { mail } = runStatusSchema.parse(line);
    const messages = room.messages();
    expect(mail).toMatchObject({
      unread: 2,
      oldestUnread: messages[1]?.ts,
      unanswered: 1,
      overdue: 0,
      dead: 0,
      members: [
        { address: 'MAIN', unread: 1 },
        { address: 'A', unread: 1 },
        { address: 'B', unread: 0, oldestUnread: null },
      ],
    });
    expect((await room.run(['status'])).stdout).toMatch(
      /\nmail\n {2}2 unread, the oldest for \d+ s {2}\(MAIN 1, A 1\)\n {2}1 without an answer\n {2}See: squad mail status --run tidy\n/,
    );
  });

  it('is silent about a mailbox in which nobody has anything to look at', async () => {
    const room = mailRoom();
    expect((await room.run(['status'])).stdout).not.toContain('\nmail\n');
    const [line] = (await room.run(['status', '--json'])).lines;
    expect(line).toMatchObject({ mail: { unread: 0, oldestUnread: null } });
  });
});

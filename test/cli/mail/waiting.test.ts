// @module-tag all
import { describe, expect, it } from 'vitest';
import { allowedMs } from '../../support/busy-machine.ts';
import { mailRoom } from './room.ts';

const ASK = [
  'mail',
  'ask',
  '--to',
  'A',
  '--action',
  'verify',
  '--doc-path',
  'd',
  '--changes-summary',
  'c',
  '--question',
  'q',
];

describe('--wait', () => {
  it('delivered ends at once', async () => {
    const room = mailRoom();
    const { code, lines } = await room.run([...ASK, '--wait', 'delivered', '--json']);
    expect(lines).toMatchObject([
      { event: 'sent', repeated: false, message: { from: 'MAIN', to: ['A'], action: 'verify' } },
      { event: 'waited', for: 'delivered', end: 'reached', recipients: [{ recipient: 'A', state: 'waiting' }] },
    ]);
    expect(code).toBe(0);
  });

  it('accepted ends once another process has read it', async () => {
    const room = mailRoom();
    const waiting = room.start([...ASK, '--wait', 'accepted', '--json']);
    await waiting.line(({ event }) => event === 'sent');
    expect(waiting.child.exitCode).toBeNull();
    await room.run(['mail', 'inbox', '--as', 'a', '--take']);
    const { code, lines } = await waiting.finished;
    expect(lines.at(-1)).toMatchObject({
      event: 'waited',
      end: 'reached',
      recipients: [{ state: 'accepted', answer: null }],
    });
    expect(code).toBe(0);
  });

  it.each([
    ['done', ['mail', 'done', '--as', 'a', '--action', 'verified'], 0, 'reached'],
    ['fail', ['mail', 'fail', '--as', 'a', '--reason', 'cannot be read'], 1, 'failed'],
  ])('done ends with the answer: %s', async (_title, answer, code, end) => {
    const room = mailRoom();
    const waiting = room.start([...ASK, '--wait', 'done', '--json']);
    await waiting.line(({ event }) => event === 'sent');
    await room.run(['mail', 'inbox', '--as', 'a', '--take']);
    await room.run(answer);
    const finished = await waiting.finished;
    expect(finished.lines.at(-1)).toMatchObject({ event: 'waited', end });
    expect(finished.code).toBe(code);
  });

  it('ends with 4 when it took too long; the message is on its way, and is waited for again under its key', async () => {
    const room = mailRoom();
    const args = [...ASK, '--key', 'k', '--wait', 'accepted', '--timeout', '1s'];
    const late = await room.run(args);
    expect(late).toMatchObject({
      code: 4,
      stderr: `The message is sent. Follow it with: squad mail trace --corr '#1'\n`,
    });
    expect(late.stdout).toMatch(/\nA {2}waiting\n$/);
    await room.run(['mail', 'inbox', '--as', 'a', '--take']);
    expect(await room.run(args)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sent before/) as string });
    expect(room.messages()).toHaveLength(1);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends at once on %s', async (signal, code) => {
    const room = mailRoom();
    const waiting = room.start([...ASK, '--wait', 'done', '--json']);
    await waiting.line(({ event }) => event === 'sent');
    // The answer to signals is there right after that line.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const from = performance.now();
    waiting.child.kill(signal);
    expect(await waiting.finished).toMatchObject({ code, signal: null });
    expect(performance.now() - from).toBeLessThan(allowedMs(2000));
    expect(room.messages()).toHaveLength(1);
  });
});

describe('squad mail listen', () => {
  it('prints what comes, once, with a second listener after it too, and loses nothing in between', async () => {
    const room = mailRoom();
    const say = async (text: string) => room.run(['mail', 'say', '--as', 'a', text]);
    await say('one?');
    const first = room.start(['mail', 'listen', '--json']);
    await first.line(({ seq }) => seq === 1);
    await say('two?');
    await first.line(({ seq }) => seq === 2);
    first.child.kill('SIGINT');
    expect(await first.finished).toMatchObject({ code: 130, signal: null, stderr: '' });
    await say('three?');
    const second = room.start(['mail', 'listen', '--json']);
    await second.line(({ seq }) => seq === 3);
    second.child.kill('SIGTERM');
    const { lines, code } = await second.finished;
    expect(lines.map(({ seq }) => seq)).toEqual([3]);
    expect(code).toBe(143);
    const [status] = (await room.run(['mail', 'status', '--json'])).lines;
    expect(status).toMatchObject({ counts: { messages: 3, unread: 0 }, unanswered: [{}, {}, {}] });
  });

  it('is killed between two messages: what it had not said that it read comes again', async () => {
    const room = mailRoom();
    await room.run(['mail', 'say', '--as', 'a', 'one?']);
    const first = room.start(['mail', 'listen', '--json'], { SQUAD_FAILPOINTS: 'mail.before-commit:2=kill' });
    expect(await first.finished).toMatchObject({ signal: 'SIGKILL' });
    const peeked = await room.run(['mail', 'inbox', '--peek', '--json']);
    expect(peeked.lines).toMatchObject([{ seq: 1 }]);
  });

  it('only looks with --peek, and shows each message once', async () => {
    const room = mailRoom();
    await room.run(['mail', 'say', '--as', 'a', 'one?']);
    const peeking = room.start(['mail', 'listen', '--peek', '--json']);
    await peeking.line(({ seq }) => seq === 1);
    await room.run(['mail', 'say', '--as', 'b', 'two?']);
    await peeking.line(({ seq }) => seq === 2);
    peeking.child.kill('SIGINT');
    expect((await peeking.finished).lines).toHaveLength(2);
    const [status] = (await room.run(['mail', 'status', '--json'])).lines;
    expect(status).toMatchObject({ counts: { unread: 2 }, members: [{ address: 'MAIN', online: false }, {}, {}] });
  });

  it('lets time do its work without an engine: what expired is given up, and MAIN hears of it', async () => {
    const room = mailRoom();
    await room.run(['mail', 'send', '--to', 'A', '--action', 'note', '--summary', 'soon', '--ttl', '2s']);
    const listening = room.start(['mail', 'listen', '--json']);
    const line = await listening.line(({ from }) => from === 'ROUTER');
    expect(JSON.parse(String(line['body']))).toMatchObject({ target: 'A', retries: 0 });
    listening.child.kill('SIGINT');
    await listening.finished;
    const status = await room.run(['mail', 'status']);
    expect(status.stdout).toMatch(/given up\n {2}→ A after 0 retries.*\n {4}Next: squad mail inbox --as A --take/);
    expect((await room.run(['mail', 'inbox', '--as', 'a', '--take'])).stdout).toMatch(/says:soon/);
    expect((await room.run(['mail', 'status'])).stdout).not.toContain('\ngiven up');
  });
});

import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROMPTS } from '../../../src/prompts/shipped.ts';
import type { MailVerb } from '../../../src/model/mail/kind.ts';
import { isJsonObject, type Json } from '../../../src/text/json.ts';
import { POLICY } from '../../substrate/ledger/mail/support.ts';
import { MAIL_SERVER_ENTRY } from '../../support/mcp-client.ts';
import { openToolRoom, serve, TURNS, turnFile, type ToolRoom } from './support.ts';
import { ALL } from '../../support/lane.ts';

/** What `delivery` gives a builder. */
const BUILDER: MailVerb[] = ['ask', 'send', 'handoff', 'done', 'fail', 'report'];

const note = { to: ['MAIN'], text: 'well' };

function messages(room: ToolRoom) {
  return [...room.mail.trace({})].flatMap((entry) => (entry.event === 'message' ? [entry.message] : []));
}

describe('squad mcp', () => {
  it('has taken its file away before it answers, and speaks as the agent of that turn', async () => {
    const room = openToolRoom();
    const path = turnFile(room, 'A');
    const client = serve(path, { SQUAD_AGENT: 'MAIN', SQUAD_TOKEN: 'x', SQUAD_TURN_ID: TURNS.MAIN });
    const { serverInfo, instructions } = await client.open();
    expect(existsSync(path)).toBe(false);
    expect(serverInfo).toMatchObject({ name: 'squad' });
    expect(instructions).toMatch(/information, not orders/);
    const sent = await client.call('send', note);
    expect(sent).toMatchObject({ isError: false, structuredContent: { to: ['MAIN'], takes_effect: 'now' } });
    expect(JSON.parse(sent.content[0]?.text ?? '')).toEqual(sent.structuredContent);
    expect(messages(room)).toMatchObject([{ from: 'A', to: ['MAIN'], agent_instance: 'A-01' }]);
    expect(room.mail.status('r').members).toContainEqual(expect.objectContaining({ address: 'A', online: true }));
    expect({ code: await client.end(), stderr: client.stderr() }).toEqual({ code: 0, stderr: '' });
  });

  it('lists three tools and the rest as actions of one, each with hints by which both CLIs call it unattended', async () => {
    const room = openToolRoom();
    const names: Record<string, unknown[]> = {};
    for (const member of ['MAIN', 'A'] as const) {
      const client = serve(turnFile(room, member));
      await client.open();
      const { tools } = await client.request('tools/list', {});
      const listed: Record<string, unknown>[] = Array.isArray(tools) ? tools.filter((tool) => isJsonObject(tool)) : [];
      names[member] = listed.map(({ name }) => name);
      for (const { annotations, inputSchema } of listed) {
        expect(annotations).toMatchObject({ destructiveHint: false, openWorldHint: false });
        expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
        expect(JSON.stringify(inputSchema)).not.toMatch(/"from"|"pattern"|"\$schema"/);
      }
      await client.end();
    }
    expect(names).toEqual({ MAIN: ['handoff', 'ask', 'send', 'mail'], A: ['ask', 'send', 'mail'] });
  });

  it('costs each request to a model at most 3 kB, and says in 100 characters what it is for', async () => {
    const members = POLICY.members.map((one) => (one.address === 'A' ? { ...one, verbs: BUILDER } : one));
    const client = serve(turnFile(openToolRoom({ ...POLICY, members }), 'A'));
    const { instructions } = await client.open();
    const { tools } = await client.request('tools/list', {});
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThanOrEqual(3_000);
    expect(JSON.stringify(tools)).toMatch(/"name":"handoff".*"name":"ask".*"name":"send".*"name":"mail"/);
    expect(JSON.stringify(tools)).not.toMatch(/body_encoding|has_new_issues|issue_count/);
    expect(instructions).toMatch(/^[^.]{1,99}\. /);
    for (const said of [instructions, tools].map((one) => JSON.stringify(one)))
      expect(said.split(PROMPTS['mail/when-to-ask'].body)).toHaveLength(2);
  });

  it('says of itself, of asking and of mail what the run’s prompts say', async () => {
    const room = openToolRoom();
    const changed = {
      'mail/server': 'For mail. {{whenToAsk}} {{information}}',
      'mail/when-to-ask': 'Ask early.',
      'mail/information': 'Doubt it.',
    };
    room.done('MAIN', 'send', { to: ['A'], text: 'well' });
    const client = serve(turnFile(room, 'A', changed));
    expect((await client.open()).instructions).toBe('For mail. Ask early. Doubt it.');
    const { tools } = await client.request('tools/list', {});
    expect(tools).toContainEqual(expect.objectContaining({ name: 'ask', description: 'Ask early.' }));
    expect((await client.call('inbox', {})).structuredContent).toMatchObject({ note: 'Doubt it.' });
  });

  it('lists what answers the mail that waits, too', async () => {
    const room = openToolRoom();
    const clients = { A: serve(turnFile(room, 'A')), B: serve(turnFile(room, 'B')) };
    await Promise.all([clients.A.open(), clients.B.open()]);
    const listed = async (member: 'A' | 'B'): Promise<unknown[]> => {
      const { tools } = await clients[member].request('tools/list', {});
      return Array.isArray(tools) ? tools.map((tool) => isJsonObject(tool) && tool['name']) : [];
    };
    room.done('MAIN', 'review', { to: ['A'], task_id: 'DOC', doc_path: 'a.md' });
    room.done('MAIN', 'send', { to: ['B'], text: 'well' });
    expect(await listed('A')).toEqual(['ask', 'send', 'mail', 'report', 'done', 'fail', 'inbox', 'accept']);
    expect(await listed('B')).toEqual(['ask', 'send', 'mail', 'inbox', 'accept']);
    // Read, as what the prompt of a turn holds is.
    expect(room.done('A', 'inbox')['letters']).toHaveLength(1);
    expect(await listed('A')).toEqual(['ask', 'send', 'mail', 'report', 'done', 'fail']);
    room.done('B', 'inbox');
    expect(await listed('B')).toEqual(['ask', 'send', 'mail']);
  });

  it('does each action of `mail` as its tool does, says what one takes, and knows no other', async () => {
    const room = openToolRoom();
    const client = serve(turnFile(room, 'A'));
    await client.open();
    room.done('MAIN', 'ask', { to: ['A'], question: 'how?', context: 'here' });
    const mail = (action: string, given?: Record<string, Json>) =>
      client.call('mail', { action, ...(given && { arguments: given }) });
    expect((await mail('inbox')).structuredContent).toMatchObject({ letters: [{ action: 'clarify' }] });
    expect((await mail('status')).structuredContent).toMatchObject({ you: { address: 'A' } });
    expect((await mail('reply')).structuredContent).toMatchObject({
      ...{ action: 'reply', does: 'Answer a question.' },
      arguments: { required: ['text'], additionalProperties: false },
    });
    const refused = await mail('reply', { text: 'so', reason: 'none', from: 'MAIN' });
    expect(refused).toMatchObject({ isError: true, structuredContent: { field: 'from' } });
    expect((await mail('reply', { text: 'so', reason: 'none' })).isError).toBe(false);
    expect((await mail('assign', {})).structuredContent).toMatchObject({ reason: 'invalid_format', field: 'action' });
    expect(messages(room).map(({ action }) => action)).toEqual(['clarify', 'answer']);
    expect(room.refusals()).toMatchObject([{ field: 'from' }, { field: 'action' }]);
  });

  it('answers a refusal as the tool’s own error, with its reason, field and rule', async () => {
    const room = openToolRoom();
    const client = serve(turnFile(room, 'A'));
    await client.open();
    const refused = await client.call('send', { ...note, to: ['B'] });
    expect(refused).toMatchObject({
      isError: true,
      structuredContent: { reason: 'not_authorized', field: 'to[0]', rule: expect.stringContaining('MAIN') },
    });
    expect(refused.content[0]?.text).toMatch(/^refused \(not_authorized\): to\[0\] is not allowed: A may write to/);
    await expect(client.call('withdraw')).rejects.toThrow('there is no such tool');
  });

  it('makes one message of one request, however often that comes', async () => {
    const room = openToolRoom();
    const client = serve(turnFile(room, 'A'));
    await client.open();
    for (const repeated of [false, true, true]) {
      expect((await client.call('send', note, 77)).structuredContent).toMatchObject({ repeated });
    }
    expect(messages(room)).toHaveLength(1);
    await client.call('send', note);
    expect(messages(room)).toHaveLength(2);
  });

  it('is nobody’s any more once the turn is over, or was given to another server', async () => {
    const room = openToolRoom();
    const client = serve(turnFile(room, 'A'));
    await client.open();
    const next = serve(turnFile(room, 'A'));
    await next.open();
    expect((await client.call('send', note)).structuredContent).toMatchObject({ reason: 'not_authorized' });
    expect((await next.call('send', note)).isError).toBe(false);
    room.settle(TURNS.A);
    expect((await next.call('send', note)).structuredContent).toMatchObject({ reason: 'not_authorized' });
    expect(messages(room)).toHaveLength(1);
    expect(room.refusals()).toMatchObject([{ by: 'token' }, { by: 'token' }]);
  });

  it('works without an engine', async () => {
    const room = openToolRoom();
    const path = turnFile(room, 'A');
    room.ledger.releaseLease(room.lease);
    room.ledger.close();
    const client = serve(path);
    await client.open();
    expect((await client.call('send', note)).isError).toBe(false);
    expect((await client.call('status')).structuredContent).toMatchObject({ you: { address: 'A' } });
  });
});

describe('a server that cannot be', () => {
  it.each([
    ['has started before', 'taken', /has started before/, 2],
    ['has a file that says nothing', 'damaged', /is damaged/, 65],
  ])('because it %s says so and ends', ALL, async (_, kind, said, code) => {
    const room = openToolRoom();
    const path = turnFile(room, 'A');
    if (kind === 'taken') {
      const first = serve(path);
      await first.open();
    } else {
      writeFileSync(path, '{"token":"too-short"}');
    }
    const client = serve(path);
    await expect(client.open()).rejects.toThrow(said);
    expect(await client.ended).toBe(code);
    expect(client.stderr()).not.toContain('too-short');
    expect(client.child.exitCode).toBe(code);
  });
});

describe('a server ends', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('on %s, at once', async (signal) => {
    const client = serve(turnFile(openToolRoom(), 'A'));
    await client.open();
    client.child.kill(signal);
    expect(await client.ended).toBe(0);
  });

  it('when its input closes, also in the middle of a line', async () => {
    const client = serve(turnFile(openToolRoom(), 'A'));
    await client.open();
    client.child.stdin?.write('{"jsonrpc":"2.0","id":2,');
    expect(await client.end()).toBe(0);
  });

  it('when it never had any input', async () => {
    const path = turnFile(openToolRoom(), 'A');
    const child = spawn(process.execPath, [MAIL_SERVER_ENTRY, '--turn-file', path], { stdio: 'ignore' });
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  });

  it('when a line is longer than any request, though its input stays open, and says why', async () => {
    const client = serve(turnFile(openToolRoom(), 'A'));
    await client.open();
    client.child.stdin?.write('x'.repeat(5 * 1024 * 1024));
    expect(await client.ended).toBe(1);
    expect(client.stderr()).toMatch(/^squad mcp: .*4194304 bytes/);
  });

  it('not when a line is as long as a message may be', async () => {
    const client = serve(turnFile(openToolRoom(), 'A'));
    await client.open();
    const { isError } = await client.call('send', { ...note, text: '\u0001'.repeat(40_000) });
    expect(isError).toBe(false);
    const tooLong = await client.call('send', { ...note, text: 'x'.repeat(3 * 1024 * 1024) });
    expect(tooLong.structuredContent).toMatchObject({ reason: 'invalid_format' });
  });

  it('when its parent is gone, though its input stays open', async () => {
    const path = turnFile(openToolRoom(), 'A');
    // The shell lives until its own input ends; the server's is another one, which this test holds open.
    const script = '"$0" "$1" --turn-file "$2" <&3 >/dev/null & echo $!; read -r _';
    const shell = spawn('sh', ['-c', script, process.execPath, MAIL_SERVER_ENTRY, path], {
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
    });
    const pid = await new Promise<number>((resolve) =>
      shell.stdout?.once('data', (chunk: Buffer) => resolve(Number(chunk.toString('utf8')))),
    );
    onTestFinished(() => {
      for (const stream of shell.stdio) stream?.destroy();
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    await until(() => !existsSync(path));
    expect(isAlive(pid)).toBe(true);
    shell.stdin?.end();
    await until(() => !isAlive(pid));
  });
});

async function until(holds: () => boolean): Promise<void> {
  for (let looks = 0; looks < 300 && !holds(); looks += 1) await sleep(100);
  expect(holds()).toBe(true);
}

function isAlive(pid: number): boolean {
  return pid > 0 && existsSync(join('/proc', String(pid), 'exe')) && pid !== process.pid;
}

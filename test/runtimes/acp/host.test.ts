import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startHost } from '../../support/acp-host.ts';

const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

describe('a turn', () => {
  it('ends with the message after the last tool', async () => {
    const run = startHost({
      turns: [
        { steps: [{ say: 'I look.' }, { write: { path: 'a.txt', text: 'x' }, ask: true }, { say: 'done', chunks: 3 }] },
      ],
    });
    const { code, last, lines } = await run.ended;
    expect(code).toBe(0);
    expect(last).toMatchObject({ type: 'result', stopReason: 'end_turn', text: 'done', usage: { outputTokens: 40 } });
    expect(lines.map(({ type }) => type).slice(0, 4)).toEqual(['agent', 'session', 'prompted', 'update']);
    expect(lines.filter(({ type }) => type === 'permission')).toMatchObject([{ answer: 'allowed', by: 'policy' }]);
    expect(existsSync(join(run.cwd, 'a.txt'))).toBe(true);
  });

  it('ends with the message before the last tool if none follows', async () => {
    const steps = [{ say: 'I write it.' }, { write: { path: 'a.txt', text: 'x' }, ask: true }, { say: ' ' }];
    expect((await startHost({ turns: [{ steps }] }).ended).last).toMatchObject({ text: 'I write it. ' });
  });

  it('answers a method that it does not know', async () => {
    const run = startHost({
      turns: [
        { steps: [{ request: { method: 'fs/read_text_file', params: { path: '/etc/passwd' } } }, { say: 'so' }] },
      ],
    });
    const { last, lines } = await run.ended;
    expect(last).toMatchObject({ type: 'result' });
    expect(lines).toContainEqual({ type: 'declined', method: 'fs/read_text_file' });
    expect(run.noted('answers.jsonl')).toMatchObject([{ error: { code: -32601 } }]);
  });
});

it('reports a request to the model that the agent repeats, which only its stderr shows', async () => {
  const words = 'noise\nfailed before Attempt 1\nAttempt 2 of 10 failed with status 429: slow down \n';
  const run = startHost(
    { turns: [{ steps: [{ stderr: words }, { sleep: 1000 }, { say: 'done' }] }] },
    { quirks: { retry: ['Attempt ', ' failed with'] } },
  );
  const { lines } = await run.ended;
  expect(lines.filter(({ type }) => type === 'retry')).toEqual([{ type: 'retry', message: 'status 429: slow down' }]);
});

describe('a structured answer', () => {
  const turns = (...says: string[]) => [{ steps: [{ say: says[0] }], repair: [{ say: says[1] }] }];

  it('is checked, and repaired once in the same session', async () => {
    const run = startHost({ turns: turns('{"a": 1}', 'Sorry.\n```json\n{"a": "x"}\n```') }, { outputSchema: SCHEMA });
    const { lines, last } = await run.ended;
    expect(lines.filter(({ type }) => type === 'prompted')).toHaveLength(2);
    const usage = { outputTokens: 40 };
    expect(last).toMatchObject({ type: 'result', structured: { a: 'x' }, usage, before: { usage } });
  });

  it('is a problem after that', async () => {
    const { last } = await startHost({ turns: turns('no', '{"a": 2}') }, { outputSchema: SCHEMA }).ended;
    expect(last).toMatchObject({ type: 'result', problem: '`a` is 2; it must be text' });
    expect(last).not.toHaveProperty('structured');
  });
});

describe('cancel', () => {
  it('is a word with the agent', async () => {
    const run = startHost({ turns: [{ steps: [{ say: 'hello' }, { hang: true }] }] });
    await run.seen(({ type }) => type === 'update');
    run.child.kill('SIGINT');
    const { code, last } = await run.ended;
    expect([code, last]).toMatchObject([0, { type: 'result', stopReason: 'cancelled' }]);
  });
});

describe('what an agent calls a tool', () => {
  const asks = { kind: 'other', title: 'send' };
  const first = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'squad-send', kind: 'other', status: 'pending' };

  it.each([
    [{ toolName: 'first-title' as const }, 'squad-send', 'allowed'],
    [{}, 'send', 'rejected'],
  ])('follows from the quirk %j', async (quirks, tool, answer) => {
    const mcp = [{ name: 'squad', transport: { type: 'stdio' as const, command: '/bin/true', args: [], env: {} } }];
    const steps = [{ update: first }, { ask: { ...asks, toolCallId: 'c' } }, { say: 'done' }];
    const { lines } = await startHost({ turns: [{ steps }] }, { mcp, quirks }).ended;
    expect(lines.filter(({ type }) => type === 'permission')).toMatchObject([{ tool, title: 'send', answer }]);
  });
});

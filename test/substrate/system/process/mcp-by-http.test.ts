import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { McpServer } from '../../../../src/model/turn-request.ts';
import { startHost } from '../../../support/acp-host.ts';
import { ALL } from '../../../support/lane.ts';

const args = [fileURLToPath(new URL('../../../fixtures/agents/echo-mcp.mjs', import.meta.url))];
const ECHO: McpServer = {
  name: 'echo',
  transport: { type: 'stdio', command: process.execPath, args, env: { SECRET: 'canary' } },
};
const call = (tool: string) => ({ mcp: 'echo', tool, arguments: { text: 'hi' }, ask: true });

interface Opened {
  readonly method?: string;
  readonly params?: { readonly mcpServers: { url: string; headers: { name: string; value: string }[] }[] };
}

/** The server as the agent got it. */
async function serverOf(run: ReturnType<typeof startHost>) {
  await run.seen(({ type }) => type === 'update');
  const [server] = run.noted('received.jsonl').flatMap((line) => (line as Opened).params?.mcpServers ?? []);
  if (server === undefined) throw new Error('the agent got no server');
  return server;
}

describe('a server of stdio by HTTP', () => {
  it('answers the agent', async () => {
    const run = startHost(
      { turns: [{ steps: [call('echo'), call('echo'), call('none'), { say: 'done' }] }] },
      { mcp: [ECHO], quirks: { mcp: 'http' } },
    );
    const { last, lines } = await run.ended;
    expect(last).toMatchObject({ type: 'result', text: 'done' });
    expect(lines.find(({ type }) => type === 'session')).toMatchObject({ mcp: ['echo'] });
    const outputs = lines.flatMap(({ update }) => {
      const { status, rawOutput } = (update ?? {}) as { status?: string; rawOutput?: string };
      return rawOutput === undefined ? [] : [[status, JSON.parse(rawOutput)]];
    });
    expect(outputs).toMatchObject([
      ['completed', { input: { text: 'hi' }, secret: 'canary' }],
      ['completed', { input: { text: 'hi' } }],
      ['failed', { code: -32602, message: 'no tool none' }],
    ]);
    // One process, however often the agent shakes hands, without the agent's own environment.
    expect(outputs[0]?.[1].pid).toBe(outputs[1]?.[1].pid);
    expect(outputs[0]?.[1].environment).not.toContain('VITEST');
    expect(lines.filter(({ type }) => type === 'permission')).toMatchObject([
      ...[{ answer: 'allowed' }, { answer: 'allowed' }, { answer: 'allowed' }],
    ]);
  });

  it('that dies is an error of the call', async () => {
    const run = startHost(
      { turns: [{ steps: [call('die'), { say: 'done' }] }] },
      { mcp: [ECHO], quirks: { mcp: 'http' } },
    );
    const { last, lines } = await run.ended;
    expect(last).toMatchObject({ type: 'result' });
    expect(JSON.stringify(lines)).toContain('the MCP server echo has ended');
  });

  it.each<[string, string[], string]>([
    ['is not there', ['/nonexistent/server'], 'ENOENT'],
    ['dies', ['/bin/sh', '-c', 'echo no key >&2; exit 3'], 'the MCP server echo has ended: no key'],
    ['never answers', ['/bin/sh', '-c', 'echo waiting >&2; sleep 60'], 'did not answer within 0.5 s: waiting'],
  ])('fails the turn if it is required and %s', async (_what, [command = '', ...rest], words) => {
    const server: McpServer = {
      name: 'echo',
      required: true,
      transport: { type: 'stdio', command, args: rest, env: {} },
    };
    const run = startHost({ turns: [] }, { mcp: [server], quirks: { mcp: 'http' }, limits: { openMs: 1000 } });
    const { last } = await run.ended;
    expect(last).toMatchObject({
      type: 'error',
      at: 'session',
      setting: 'mcp',
      message: expect.stringContaining(words),
    });
  });

  it('knows the turn by its token, and is gone with the host', ALL, async () => {
    const run = startHost(
      { turns: [{ steps: [{ say: 'x' }, { hang: true }] }] },
      { mcp: [ECHO], quirks: { mcp: 'http' } },
    );
    const { url, headers } = await serverOf(run);
    const [{ value: token } = { value: '' }] = headers;
    expect(new URL(url).hostname).toBe('127.0.0.1');
    const post = async (authorization: string, body = '{}', method = 'POST', path = '') =>
      (await fetch(`${url}${path}`, { method, headers: { authorization }, ...(method === 'POST' ? { body } : {}) }))
        .status;
    const ping = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: {} },
    });
    expect(await post(token, ping)).toBe(200);
    expect(await post('', ping)).toBe(401);
    expect(await post(`${token.slice(0, -1)}x`, ping)).toBe(401);
    expect(await post('ü'.repeat(token.length), ping).catch(() => 401)).toBe(401);
    expect(await post(token, ping, 'POST', 'x')).toBe(401);
    expect(await post(token, 'no JSON')).toBe(400);
    expect(await post(token, '[1]')).toBe(400);
    expect(await post(token, '', 'GET')).toBe(405);
    expect(await post(token, JSON.stringify({ method: 'notifications/cancelled', params: { requestId: 1 } }))).toBe(
      202,
    );
    expect(await post(token, 'x'.repeat(5_000_000)).catch(() => 413)).toBe(413);
    expect(await post(token, ping)).toBe(200);
    run.child.kill('SIGINT');
    await run.ended;
    await expect(fetch(url)).rejects.toThrow();
  });
});

import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { serveNewer } from '../../../src/cli/mcp/newer-server.ts';
import { isNewer, servePlain } from '../../../src/cli/mcp/plain-server.ts';
import type { ServedTools, Wire } from '../../../src/cli/mcp/wire.ts';
import type { Json } from '../../../src/text/json.ts';
import { openToolRoom, serve, turnFile } from './support.ts';

const TOOL = {
  ...{ name: 'send', description: 'Sends.', inputSchema: { type: 'object' as const, properties: {} } },
  annotations: { destructiveHint: false, openWorldHint: false } as const,
};
const TOOLS: ServedTools = {
  instructions: 'What it is for.',
  list: () => [TOOL],
  call: (id, name, given) => {
    if (name === 'broken') throw new Error('it is broken');
    if (name !== 'send') return undefined;
    const content = [{ type: 'text' as const, text: JSON.stringify([id, given ?? null]) }];
    return given === undefined ? { isError: true, content } : { content, structuredContent: { id } };
  },
};

/** What a server answers to these lines, an object for each. */
async function answersOf(library: boolean, lines: readonly string[]): Promise<Record<string, Json>[]> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const written: Buffer[] = [];
  output.on('data', (chunk: Buffer) => written.push(chunk));
  const wire: Wire = { input, output, mostLineBytes: 10_000, end: () => undefined, report: () => undefined };
  if (library) serveNewer(TOOLS, '1.2.3', wire);
  else input.on('data', servePlain(TOOLS, '1.2.3', wire));
  for (const line of lines) {
    input.write(line);
    await sleep(5);
  }
  await sleep(20);
  const texts = Buffer.concat(written).toString('utf8').trim().split('\n');
  return texts.filter((text) => text !== '').map((text) => JSON.parse(text) as Record<string, Json>);
}

const message = (more: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...more })}\n`;
const hello = (protocolVersion: string): string => {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  return message({ id: 0, method: 'initialize', params });
};
const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
const READY = message({ method: 'notifications/initialized' });
const called = (id: number | string, params: object): string => message({ id, method: 'tools/call', params });

describe('a client of a revision that begins with `initialize`', () => {
  it.each([...REVISIONS, '2023-01-01', '2030-01-01'])('of %s is answered as by the library', async (revision) => {
    const lines = [
      ...[hello(revision), READY, message({ id: 1, method: 'ping' }), message({ id: 'two', method: 'tools/list' })],
      ...['not json\n', '\n', message({ method: 'notifications/cancelled', params: { requestId: 9 } })],
      called(3, { name: 'send', arguments: { to: ['A'], text: 'é' } }),
      called('four', { name: 'send', arguments: {} }),
      called(5, { name: 'send' }),
      called(6, { name: 'nothing', arguments: {} }),
      called(7, { name: 'broken', arguments: {} }),
      message({ id: 8, method: 'resources/list' }),
      message({ id: 9, method: 'no/such/method', params: {} }),
      message({ id: 10, method: 'logging/setLevel', params: { level: 'debug' } }),
      message({ id: 11, method: 'ping', params: { _meta: { progressToken: 1 } } }),
    ];
    expect(await answersOf(false, lines)).toEqual(await answersOf(true, lines));
  });

  it('is told the same code where a call has no name', async () => {
    const lines = [hello('2025-06-18'), READY, called(1, {}), called(2, { name: 'send', arguments: 'x' })];
    const codesOf = (all: Record<string, Json>[]): Json[] =>
      all.map(({ id = null, error }) => [id, (error as { code: number } | undefined)?.code ?? null]);
    const codes = codesOf(await answersOf(false, lines));
    expect(codes).toEqual([
      [0, null],
      [1, -32_602],
      [2, -32_602],
    ]);
    expect(codesOf(await answersOf(true, lines))).toEqual(codes);
  });

  it('may send its lines in pieces, or many at once', async () => {
    const lines = [hello('2025-06-18'), READY, ...[1, 2, 3].map((id) => called(id, { name: 'send', arguments: {} }))];
    const whole = await answersOf(false, lines);
    expect(whole).toHaveLength(4);
    expect(await answersOf(false, [lines.join('')])).toEqual(whole);
    expect(await answersOf(false, lines.join('').match(/[^]{1,40}/g) ?? [])).toEqual(whole);
  });
});

describe('a client of a newer revision', () => {
  const meta = {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };

  it.each([
    ['names it in each request', { id: 1, method: 'tools/list', params: meta }, true],
    ['asks what there is', { id: 1, method: 'server/discover' }, true],
    ['begins with `initialize`', { id: 1, method: 'initialize', params: { protocolVersion: '2026-07-28' } }, false],
    ['says something else', { id: 1, method: 'tools/list' }, false],
  ])('%s', (_, given, is) => {
    expect(isNewer(message(given))).toBe(is);
  });

  it.each(['no', '', '[]', 'null', '{"params":{"_meta":[]}}'])('is not one that says %j', (line) => {
    expect(isNewer(line)).toBe(false);
  });

  it('is served by the library, from its first request on', { timeout: 30_000 }, async () => {
    const room = openToolRoom();
    const client = serve(turnFile(room, 'A'));
    const { supportedVersions } = await client.request('server/discover', meta);
    expect(supportedVersions).toEqual(['2026-07-28']);
    const { tools } = await client.request('tools/list', meta);
    expect(tools).toContainEqual(expect.objectContaining({ name: 'mail' }));
    const sent = await client.request('tools/call', {
      ...meta,
      name: 'send',
      arguments: { to: ['MAIN'], text: 'well' },
    });
    expect(sent).toMatchObject({ structuredContent: { to: ['MAIN'] } });
    expect({ code: await client.end(), stderr: client.stderr() }).toEqual({ code: 0, stderr: '' });
  });
});

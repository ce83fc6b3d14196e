import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { keepDoor } from '../../src/studio/front-door.ts';
import { KNOWN_ORIGINS, refusalOf, studioGuard } from '../../src/studio/guard.ts';

/* A server of Node behind the door, and bytes on real sockets in front of it. */

let server: Server;
/** What the server behind the door has heard of. */
let heard: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url}`);
    request.resume().once('end', () => response.end('served'));
  });
  server.on('upgrade', (request, socket) => {
    heard.push(`upgrade ${request.url}`);
    socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');
  });
  keepDoor(
    server,
    async ({ method = '', url: target = '', rawHeaders }) => {
      if (target === '/broken') throw new Error('a bug');
      const text = refusalOf({ method, target, rawHeaders }, studioGuard(KNOWN_ORIGINS));
      if (text !== undefined) return { status: 403, text };
      return target === '/copy' ? { status: 422, text: 'a fork', readBy: KNOWN_ORIGINS[0] ?? '' } : { target };
    },
    'squad studio',
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => void (heard = []));

/** All that the server says to these bytes. It has to close the connection. */
async function say(...lines: string[]): Promise<string> {
  const { port } = server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => void (text += part));
  // The server may close before all is written.
  socket.on('error', () => undefined);
  socket.write(lines.join('\r\n'));
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

const HOST = 'Host: 127.0.0.1:2024';
const CLOSE = 'Connection: close';
const END = ['', ''];

it('a request of this machine reaches the server, with its body', async () => {
  const type = 'Content-Type: application/json';
  const said = await say('POST /threads HTTP/1.1', HOST, CLOSE, type, 'Content-Length: 2', '', '{}');
  expect(said).toMatch(/^HTTP\/1\.1 200 OK[^]*served$/);
  expect(heard).toEqual(['POST /threads']);
});

it('so does one that waits for a sign before it sends its body', async () => {
  const head = ['POST /threads HTTP/1.1', HOST, CLOSE, 'Content-Type: application/json', 'Content-Length: 2'];
  expect(await say(...head, 'Expect: 100-continue', '', '{}')).toMatch(/100 Continue[^]*200 OK[^]*served$/);
});

it.each<[string, readonly string[]]>([
  ['a foreign Host', ['GET / HTTP/1.1', 'Host: evil.example']],
  ['no Host', ['GET / HTTP/1.1']],
  ['HTTP/1.0 without Host', ['GET / HTTP/1.0']],
  ['two Hosts', ['GET / HTTP/1.1', HOST, HOST]],
  ['a whole address as its target', ['GET http://evil.example/ HTTP/1.1', HOST]],
  ['a foreign Origin', ['GET / HTTP/1.1', HOST, 'Origin: https://evil.example']],
  ['no origin at all', ['GET / HTTP/1.1', HOST, 'Origin: null']],
  ['text', ['POST / HTTP/1.1', HOST, 'Content-Type: text/plain', 'Content-Length: 2', '', '{}']],
  ['text in pieces', ['POST / HTTP/1.1', HOST, 'Transfer-Encoding: chunked', '', '2', '{}', '0']],
  [
    'text after a sign',
    ['POST / HTTP/1.1', HOST, 'Content-Type: text/plain', 'Expect: 100-continue', 'Content-Length: 9'],
  ],
  ['a preflight of a foreign page', ['OPTIONS / HTTP/1.1', HOST, 'Origin: https://evil.example']],
  [
    'a WebSocket of a foreign page',
    ['GET /w HTTP/1.1', HOST, 'Origin: https://evil.example', 'Connection: Upgrade', 'Upgrade: websocket'],
  ],
  [
    'a WebSocket to a foreign name',
    ['GET /w HTTP/1.1', 'Host: evil.example', 'Connection: Upgrade', 'Upgrade: websocket'],
  ],
  ['a request that squad cannot judge', ['GET /broken HTTP/1.1', HOST]],
])('the server never hears of one with %s', async (_, lines) => {
  const said = await say(...lines, ...END);
  expect(said).toMatch(/^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 403 /);
  expect(said).toMatch(/\r\n\r\nsquad studio [^\n]+\.\n$/);
  expect(said).not.toMatch(/access-control/i);
  expect(heard).toEqual([]);
});

it('a connection that began well gets no further with a foreign request', async () => {
  const first = ['GET /first HTTP/1.1', HOST, ''];
  const said = await say(...first, 'GET /second HTTP/1.1', 'Host: evil.example', ...END);
  expect(said).toMatch(/200 OK[^]*served[^]*403 /);
  expect(heard).toEqual(['GET /first']);
});

it('many requests of one connection leave nothing behind on it', async () => {
  const warnings: string[] = [];
  const warn = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', warn);
  const requests = Array.from({ length: 30 }, (_, index) => [`GET /${index} HTTP/1.1`, HOST, '']);
  await say(...requests.flat(), 'GET /last HTTP/1.1', HOST, CLOSE, ...END);
  process.off('warning', warn);
  expect([heard.length, warnings]).toEqual([31, []]);
});

it('a WebSocket of this machine is opened', async () => {
  const lines = ['GET /w HTTP/1.1', HOST, 'Connection: Upgrade', 'Upgrade: websocket'];
  expect(await say(...lines, ...END)).toMatch(/^HTTP\/1\.1 101 /);
  expect(heard).toEqual(['upgrade /w']);
});

it('a body of megabytes that is not taken does not have to arrive', async () => {
  const lines = [
    'POST / HTTP/1.1',
    HOST,
    'Content-Type: text/plain',
    'Content-Length: 8000000',
    '',
    'x'.repeat(1_000_000),
  ];
  expect(await say(...lines)).toMatch(/^(?:HTTP\/1\.1 403 |$)/);
  expect(heard).toEqual([]);
});

it('Studio may read what squad answers in place of the server', async () => {
  const said = await say('GET /copy HTTP/1.1', HOST, 'Origin: https://smith.langchain.com', ...END);
  expect(said).toMatch(/^HTTP\/1\.1 422 /);
  expect(said).toContain('access-control-allow-origin: https://smith.langchain.com\r\n');
});

it('a client that leaves while squad decides harms nobody', async () => {
  const { port } = server.address() as { port: number };
  for (let time = 0; time < 20; time += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(['GET /gone HTTP/1.1', 'Host: evil.example', ...END].join('\r\n'), () => socket.resetAndDestroy());
    await new Promise((resolve) => socket.once('close', resolve));
  }
  expect(await say('GET / HTTP/1.1', HOST, CLOSE, ...END)).toMatch(/served$/);
});

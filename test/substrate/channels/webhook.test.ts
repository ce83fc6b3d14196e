import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createWebhook } from '../../../src/substrate/channels/webhook/index.ts';
import { createVerifier, signatureOf, signed } from '../../../src/substrate/channels/webhook/signature.ts';
import type { IncomingMessage, ListenPorts } from '../../../src/substrate/ports/channel.ts';
import { createSystemClock } from '../../../src/substrate/system/clock/system-clock.ts';

const SECRET = 'the-canary-secret-of-a-webhook';
const clock = createSystemClock();

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

async function serve(
  answer: (body: string, headers: Record<string, unknown>) => [number, string, Record<string, string>?],
) {
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => void (body += piece));
    request.on('end', () => {
      const [status, text, headers = {}] = answer(body, request.headers);
      response.writeHead(status, { connection: 'close', ...headers }).end(text);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

/** Listens with an inbox on loopback until the test ends. */
async function inbox(take?: (message: IncomingMessage) => Promise<void>) {
  const port = await freePort();
  const taken: IncomingMessage[] = [];
  const channel = createWebhook({
    settings: { url: 'http://127.0.0.1:9/', listen: { port, host: '127.0.0.1' } },
    secret: SECRET,
    clock,
  });
  const stopped = new AbortController();
  const connected = Promise.withResolvers<void>();
  const ports: ListenPorts = {
    after: () => new Map(),
    take: take ?? (async (message) => void taken.push(message)),
    passed: async () => undefined,
    state: () => connected.resolve(),
    say: () => undefined,
  };
  const ended = channel.listen(ports, stopped.signal);
  onTestFinished(async () => {
    stopped.abort();
    await ended;
  });
  await Promise.race([connected.promise, ended]);
  const post = async (
    body: string,
    headers: Record<string, string> = signed(SECRET, body, Date.now()),
  ): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers });
    await response.text();
    return response.status;
  };
  return { taken, post, port };
}

const message = (id: string, more: object = {}): string =>
  JSON.stringify({ id, sender: 'ann', text: 'status', ...more });

it('takes what is signed now, and refuses wrong, old, newer, missing and repeated signatures', async () => {
  const { taken, post } = await inbox();
  const body = message('1');
  const good = signed(SECRET, body, Date.now());
  expect(await post(body, good)).toBe(200);
  expect(await post(body, good)).toBe(409);
  expect(await post(message('2'), good)).toBe(401);
  expect(await post(body, signed('another secret', body, Date.now()))).toBe(401);
  expect(await post(body, signed(SECRET, body, Date.now() - 301_000))).toBe(401);
  expect(await post(body, signed(SECRET, body, Date.now() + 302_000))).toBe(401);
  expect(await post(body, {})).toBe(401);
  expect(await post(body, { 'squad-time': 'now', 'squad-signature': signatureOf(SECRET, 'now', body) })).toBe(401);
  expect(taken).toMatchObject([{ id: '1', sender: 'ann', name: 'ann', place: 'inbox', text: 'status', isToUs: true }]);
});

it('refuses what is no message, and what is too large', async () => {
  const { taken, post } = await inbox();
  expect(await post('no json')).toBe(400);
  expect(await post(JSON.stringify({ id: '', sender: 'ann', text: 'x' }))).toBe(400);
  expect(await post(message('1', { text: 'x'.repeat(600 * 1024) }))).toBe(413);
  expect(taken).toEqual([]);
});

it('says so when a message could not be taken, and takes it when it is sent again as it was', async () => {
  let isFull = true;
  const ids: string[] = [];
  const { post } = await inbox(async ({ id }) => {
    if (isFull) throw new Error('the disk is full');
    ids.push(id);
  });
  const body = message('1');
  const headers = signed(SECRET, body, Date.now());
  expect(await post(body, headers)).toBe(503);
  isFull = false;
  expect(await post(body, headers)).toBe(200);
  expect(ids).toEqual(['1']);
});

it('takes one after the other', async () => {
  let atOnce = 0;
  let most = 0;
  const ids: string[] = [];
  const { post } = await inbox(async ({ id }) => {
    most = Math.max(most, (atOnce += 1));
    await clock.sleep(5);
    atOnce -= 1;
    ids.push(id);
  });
  await Promise.all(Array.from({ length: 10 }, async (_, index) => post(message(String(index)))));
  expect({ most, count: ids.length }).toEqual({ most: 1, count: 10 });
});

it('rejects where it cannot listen', async () => {
  const { port } = await inbox();
  const second = createWebhook({
    settings: { url: 'http://127.0.0.1:9/', listen: { port, host: '127.0.0.1' } },
    secret: SECRET,
    clock,
  });
  const ports = {
    after: () => new Map(),
    take: async () => undefined,
    passed: async () => undefined,
    state: () => undefined,
    say: () => undefined,
  };
  await expect(second.listen(ports, AbortSignal.timeout(5_000))).rejects.toThrow(/EADDRINUSE/);
});

it('posts signed texts, the same nonce each time', async () => {
  const seen: { body: string; headers: Record<string, unknown> }[] = [];
  const url = await serve((body, headers) => {
    seen.push({ body, headers });
    return [204, ''];
  });
  const channel = createWebhook({ settings: { url }, secret: SECRET, clock });
  expect(await channel.send({ place: 'p', text: 'hello', nonce: 'n1' })).toEqual({ did: 'posted' });
  const [{ body, headers } = { body: '', headers: {} }] = seen;
  expect(JSON.parse(body)).toEqual({ type: 'post', place: 'p', text: 'hello', nonce: 'n1' });
  expect(headers['idempotency-key']).toBe('n1');
  const verifier = createVerifier(SECRET, Date.now);
  const given = { time: String(headers['squad-time']), signature: String(headers['squad-signature']), body };
  expect(verifier.problem(given, { once: true })).toBeUndefined();
  expect(verifier.problem({ ...given, body: `${body} ` }, { once: true })).toContain('is not that of');
  expect(JSON.stringify(seen)).not.toContain(SECRET);
});

it.each<[number, Record<string, string>, object]>([
  [200, {}, { did: 'posted' }],
  [500, {}, { did: 'later', why: 'the address answers 500' }],
  [429, { 'retry-after': '7' }, { did: 'later', why: 'the address answers 429', afterMs: 7_000 }],
  [404, {}, { did: 'refused', gone: true, why: 'the address answers 404' }],
  [410, {}, { did: 'refused', gone: true, why: 'the address answers 410' }],
  [403, {}, { did: 'refused', gone: false, why: 'the address answers 403' }],
  [302, { location: 'http://127.0.0.1:9/' }, { did: 'refused', gone: false, why: 'the address answers 302' }],
])('an answer of %i %j means %j', async (status, headers, expected) => {
  const url = await serve(() => [status, '', headers]);
  const channel = createWebhook({ settings: { url }, secret: SECRET, clock });
  expect(await channel.send({ place: 'p', text: 'hello', nonce: 'n' })).toEqual(expected);
});

it('tries later where there is no address', async () => {
  const channel = createWebhook({ settings: { url: `http://127.0.0.1:${await freePort()}/` }, secret: SECRET, clock });
  expect(await channel.send({ place: 'p', text: 'hello', nonce: 'n' })).toMatchObject({
    did: 'later',
    why: /ECONNREFUSED/,
  });
});

it('fetches what came after the last message, and believes only an answer that is signed for its question', async () => {
  const wrong: Record<string, (body: string, nonce: string) => [string, Record<string, string>]> = {
    unsigned: (body) => [body, {}],
    'signed by another': (body) => [body, signed('another secret', body, Date.now())],
    'signed long ago': (body) => [body, signed(SECRET, body, Date.now() - 400_000)],
    'to another question': () => {
      const body = JSON.stringify({ nonce: 'old', messages: [] });
      return [body, signed(SECRET, body, Date.now())];
    },
  };
  for (const [what, make] of Object.entries(wrong)) {
    const poll = await serve((body) => {
      const { nonce } = JSON.parse(body) as { nonce: string };
      const [text, headers] = make(JSON.stringify({ nonce, messages: [JSON.parse(message('1'))] }), nonce);
      return [200, text, headers];
    });
    const taken: string[] = [];
    const channel = createWebhook({ settings: { url: poll, poll }, secret: SECRET, clock });
    const ports = {
      after: () => new Map(),
      take: async ({ id }: IncomingMessage) => void taken.push(id),
      passed: async () => undefined,
      state: () => undefined,
      say: () => undefined,
    };
    await expect(channel.listen(ports, AbortSignal.timeout(5_000)), what).rejects.toThrow(/the answer of the inbox is/);
    expect(taken, what).toEqual([]);
  }
});

it('continues where it was', async () => {
  const all = ['1', '2', '3'];
  const asked: (string | undefined)[] = [];
  const poll = await serve((body) => {
    const { nonce, after } = JSON.parse(body) as { nonce: string; after?: string };
    asked.push(after);
    const messages = all
      .slice(after === undefined ? 0 : all.indexOf(after) + 1)
      .map((id) => JSON.parse(message(id)) as object);
    const text = JSON.stringify({ nonce, messages });
    return [200, text, signed(SECRET, text, Date.now())];
  });
  const channel = createWebhook({ settings: { url: poll, poll }, secret: SECRET, clock });
  const stopped = new AbortController();
  const taken: string[] = [];
  const after = new Map<string, string>();
  await channel.listen(
    {
      after: () => after,
      take: async ({ id }) => void taken.push(id),
      passed: async (place, id) => {
        after.set(place, id);
        if (asked.length === 1) all.push('4');
        else stopped.abort();
      },
      state: () => undefined,
      say: () => undefined,
    },
    stopped.signal,
  );
  expect(taken).toEqual(['1', '2', '3', '4']);
  expect(asked).toEqual([undefined, '3']);
});

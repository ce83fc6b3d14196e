import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { signed } from '../../src/substrate/channels/webhook/signature.ts';
import { fastNow } from '../support/fast-clock.ts';
import { ALL, NIGHT } from '../support/lane.ts';
import { playChannel, type OtherSide } from './suite.ts';

const SECRET = 'the-canary-secret-of-a-webhook';

/** A program that takes what squad posts, each nonce once, and keeps an inbox that squad fetches from. */
async function openHook(now = Date.now): Promise<OtherSide> {
  let isGone = false;
  const inbox: { id: string; sender: string; place: string; text: string; at: number }[] = [];
  const posts: { place: string; text: string }[] = [];
  const nonces = new Set<string>();
  let fault = (): number => 0;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => void (body += piece));
    request.on('end', () => {
      if (isGone) return void request.socket.destroy();
      const kind = fault();
      if (kind === 1) return void request.socket.destroy();
      if (kind === 2) return void response.writeHead(500).end();
      if (kind === 3) return void response.writeHead(429, { 'retry-after': '0.2' }).end();
      const given = JSON.parse(body) as { type: string; nonce: string; place: string; text: string; after?: string };
      let answer = '';
      if (given.type === 'poll') {
        const from = given.after === undefined ? 0 : inbox.findIndex(({ id }) => id === given.after) + 1;
        // A repeated one as well, and no more than fits.
        answer = JSON.stringify({ nonce: given.nonce, messages: inbox.slice(Math.max(0, from - 1), from + 20) });
        if (from === inbox.length) answer = JSON.stringify({ nonce: given.nonce, messages: [] });
      } else if (!nonces.has(given.nonce)) {
        nonces.add(given.nonce);
        posts.push({ place: given.place, text: given.text });
      }
      // Cut after the write.
      if (kind === 4) return void request.socket.destroy();
      response.writeHead(200, { ...signed(SECRET, answer, Math.floor(now())), connection: 'close' }).end(answer);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const all = ['ask', 'request', 'control', 'answer'];
  return {
    settings: { type: 'webhook', secret: 'HOOK_SECRET', url, poll: url, senders: { ann: all, bob: all } },
    environment: { HOOK_SECRET: SECRET },
    senders: ['ann', 'bob'],
    places: ['room', 'thread'],
    write: async (place, sender, text) =>
      void inbox.push({ id: `m${inbox.length}`, sender, place, text, at: Math.floor(now()) }),
    posts: (place) => posts.filter((one) => one.place === place).map(({ text }) => text),
    away: (isAway) => void (isGone = isAway),
    faults: (chance, random) => void (fault = () => (random() < chance ? 1 + Math.floor(random() * 4) : 0)),
  };
}

it(
  'a webhook loses and repeats nothing over 50 messages with faults and kills',
  { ...ALL, timeout: 120_000 },
  async () => {
    await playChannel(await openHook(), { messages: 50, kills: 3, seed: 1, timeoutMs: 90_000 });
    expect.hasAssertions();
  },
);

it(
  'a webhook loses and repeats nothing where it is away for half an hour, and keeps the order of each place',
  { ...ALL, timeout: 400_000 },
  async () => {
    const time = { from: Date.now(), speed: 60 };
    const side = await openHook(() => fastNow(time));
    await playChannel(side, { messages: 60, kills: 0, seed: 3, timeoutMs: 360_000, away: { ms: 1_800_000, time } });
    expect.hasAssertions();
  },
);

it(
  'a webhook loses and repeats nothing over 1,000 messages and 200 kills',
  { ...NIGHT, timeout: 1_500_000 },
  async () => {
    await playChannel(await openHook(), { messages: 1_000, kills: 200, seed: 2, timeoutMs: 1_200_000 });
    expect.hasAssertions();
  },
);

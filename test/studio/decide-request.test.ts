import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { decideRequests } from '../../src/studio/door.ts';
import { answerInstead, KNOWN_ORIGINS, studioGuard } from '../../src/studio/guard.ts';
import type { Client } from '../../src/substrate/system/process/loopback-client.ts';

const SECRET = 'vTq0Yx3rJ1i8o5oXc7lY2h4sJ6k9mN0pQrStUvWxYzA';
const STUDIO = KNOWN_ORIGINS[0] ?? '';

/** A door, and who asks at it. `asked`: connections whose client was looked up. */
function door(client: Client, tunnel = false) {
  const asked: object[] = [];
  const decide = decideRequests({
    ...{ secret: SECRET, guarded: studioGuard(KNOWN_ORIGINS), tunnel },
    instead: (asked) => answerInstead(asked, (id) => (id === 'a' ? 'fix-it' : undefined)),
    findClient: (socket) => {
      asked.push(socket);
      return client;
    },
  });
  const ask = async (url: string | undefined, more: Partial<IncomingMessage> = {}) =>
    decide({ method: 'GET', url, rawHeaders: ['Host', 'localhost'], headers: {}, socket: {}, ...more } as never);
  return { ask, asked };
}

describe('a request to squad studio', () => {
  it('of a process of this user reaches the server by its plain target', async () => {
    expect(await door('own').ask(`/${SECRET}/x/../threads//a?b=c`)).toEqual({ target: '/threads/a?b=c' });
  });

  it.each<[Client, boolean, RegExp]>([
    ['agent', false, /^An agent of squad may not speak to squad studio/],
    ['agent', true, /^An agent of squad may not speak to squad studio/],
    ['other-user', false, /^squad studio answers to the user who started it only/],
    ['other-user', true, /^squad studio answers to the user who started it only/],
    ['unseen', false, /^squad studio could not see a process of yours.*squad studio --tunnel/],
    ['gone', false, /^squad studio could not find out which process asks/],
    ['gone', true, /^squad studio could not find out which process asks/],
  ])('of %s is refused (tunnel: %s)', async (client, tunnel, text) => {
    expect(await door(client, tunnel).ask(`/${SECRET}/ok`)).toEqual({
      status: 403,
      text: expect.stringMatching(text) as string,
    });
  });

  it('of a process that cannot be seen is let in through a tunnel', async () => {
    expect(await door('unseen', true).ask(`/${SECRET}/ok`)).toEqual({ target: '/ok' });
  });

  it.each(['/ok', '/', undefined, `/${SECRET.slice(1)}/ok`])('without the secret learns nothing: %s', async (url) => {
    const { ask, asked } = door('own');
    expect(await ask(url)).toEqual({ status: 404, text: 'Not Found' });
    expect(asked).toEqual([]);
  });

  it('with headers of a foreign page is refused before anyone is looked up', async () => {
    const { ask, asked } = door('own');
    const foreign = { rawHeaders: ['Host', 'localhost', 'Origin', 'https://evil.example'] };
    expect(await ask(`/${SECRET}/ok`, foreign)).toMatchObject({ status: 403 });
    expect(await ask(`/${SECRET}/ok`, { method: undefined })).toMatchObject({ target: '/ok' });
    expect(asked).toHaveLength(1);
  });

  it('looks up who asks once for each connection', async () => {
    const { ask, asked } = door('own');
    const socket = {} as never;
    await ask(`/${SECRET}/ok`, { socket });
    await ask(`/${SECRET}/info`, { socket });
    await ask(`/${SECRET}/info`);
    expect(asked).toHaveLength(2);
  });

  it('that squad answers itself can be read by the page that asked', async () => {
    const { ask } = door('own');
    const removal = { method: 'DELETE' };
    const said = { status: 422, text: expect.stringContaining('squad drop fix-it') as string };
    expect(await ask(`/${SECRET}/threads/a`, removal)).toEqual(said);
    const page = { ...removal, headers: { origin: STUDIO }, rawHeaders: ['Host', 'localhost', 'Origin', STUDIO] };
    expect(await ask(`/${SECRET}/threads/a`, page)).toEqual({ ...said, readBy: STUDIO });
  });
});

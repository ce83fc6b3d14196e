// @module-tag all
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createRedactor } from '../../src/model/redaction/redactor.ts';
import { openDiscord } from '../../src/squad/people/open-discord.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { ALICE, DiscordServer, ROOM, TOKEN } from '../support/discord-server.ts';
import { Kept, post, until } from '../substrate/channels/discord-room.ts';

/** Pieces that no text of squad may have. */
const PARTS = [
  TOKEN,
  TOKEN.slice(0, 24),
  TOKEN.slice(-24),
  encodeURIComponent(TOKEN),
  Buffer.from(TOKEN).toString('base64'),
];

it('S9: the token of a bot reaches Discord alone: no word, record, file or post has it', async () => {
  const root = mkdtempSync(join(tmpdir(), 'squad-token-'));
  const server = await DiscordServer.open();
  const kept = new Kept();
  const stopped = new AbortController();
  const redactor = createRedactor([TOKEN]);
  const settings = {
    ...{ type: 'discord' as const, token: 'DISCORD_TOKEN', places: [ROOM], messagesPerHour: 30, api: server.api },
    senders: { [ALICE]: ['ask' as const] },
  };
  const host = { directory: root, clock: createSystemClock(), redactor, environment: { DISCORD_TOKEN: TOKEN } };
  const channel = await openDiscord('team', settings, host);
  const ended = channel.listen(kept.ports(), stopped.signal);
  onTestFinished(async () => {
    stopped.abort();
    await ended;
    await server.close();
    rmSync(root, { recursive: true, force: true });
  });
  await until('connected', () => kept.after.has(ROOM));
  server.say(`my token is ${TOKEN}`);
  server.say('status');
  await until('taken', () => kept.taken.length === 2);
  const answers: unknown[] = [];
  for (const fault of ['error', 'limit', 'cut', 'cut-after'] as const) {
    server.fail(fault);
    answers.push(await channel.send({ place: ROOM, text: 'a', nonce: fault }));
    answers.push((await post(channel, { place: ROOM, text: 'a', nonce: fault })).answer);
  }
  // The one that answers knows the token, and may repeat it.
  server.repeatsToken = true;
  answers.push(await channel.send({ place: '1298374650123456700', text: 'a', nonce: 'n' }));
  server.repeatsToken = false;
  server.gateway.token = 'MTI.another.one';
  server.gateway.invalidate();
  answers.push(await channel.send({ place: ROOM, text: 'a', nonce: 'refused' }));
  await until('refused', () => kept.states.some((text) => text.includes('refuses the token')));
  expect(answers).toContainEqual(expect.objectContaining({ why: expect.stringContaining('[redacted]') }));
  const folder = join(root, 'logs/discord');
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(files.join('')).toContain('my token is [redacted]');
  const seen = [...files, ...kept.states, ...kept.said, JSON.stringify(answers), JSON.stringify(server.bodies)].join(
    '\n',
  );
  expect(PARTS.filter((part) => seen.includes(part))).toEqual([]);
});

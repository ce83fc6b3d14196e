// @module-tag all
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { ALICE, DiscordServer, ROOM, TOKEN } from '../support/discord-server.ts';
import type { Engine, Finished } from '../support/engine.ts';
import { processTree, usageOf } from '../support/process-usage.ts';
import { until } from '../substrate/channels/discord-room.ts';
import { roomForTest } from './room.ts';

const MOST_MB = 20;
const PAGE = readFileSync(new URL('../../docs/channels-discord.md', import.meta.url), 'utf8');
const [, YAML = ''] = /^```yaml\n([^]*?)^```$/m.exec(PAGE) ?? [];

interface Section {
  readonly channels: { readonly team: Record<string, unknown> };
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

it('a new user is answered on Discord, with little memory, and the token stays where it is', async () => {
  const [room, other] = [roomForTest(), roomForTest()];
  const server = await DiscordServer.open();
  onTestFinished(async () => server.close());
  const environment = { DISCORD_TOKEN: TOKEN };
  const stop = async ({ child, finished }: Engine): Promise<Finished> => {
    child.kill('SIGTERM');
    return finished;
  };
  const write = ({ repository }: typeof room, more: object): void =>
    writeFileSync(join(repository, 'squad.yaml'), JSON.stringify({ version: 1, ...more }));
  const { channels } = parse(YAML) as Section;
  write(other, {});
  write(room, { channels: { team: { ...channels.team, api: server.api } } });
  const check = await room.run(['serve', 'check', '--yes'], environment);
  expect(check.code, check.stderr).toBe(0);
  // Side by side, as memory depends on the age of a process.
  const plain = other.start(['serve']);
  const service = room.start(['serve'], environment);
  const { child } = service;
  onTestFinished(() => {
    for (const one of [plain.child, child]) one.kill('SIGKILL');
  });
  await until('connected', () => server.requests.some((line) => line === `GET /channels/${ROOM}`), 60_000);
  await new Promise((resolve) => void setTimeout(resolve, 3_000));
  const asked = server.say('status', { by: ALICE });
  await until('an answer', () => server.posts(asked.id).length > 0, 60_000);
  await new Promise((resolve) => void setTimeout(resolve, 3_000));
  const added = usageOf(child.pid!).rssMb - usageOf(plain.child.pid!).rssMb;
  const below = processTree(child.pid!).slice(1);
  const given = below.map((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8')).join('\n');
  await stop(plain);
  const { stdout, stderr } = await stop(service);
  const files = filesBelow(room.root).filter((path) => readFileSync(path).includes(TOKEN));
  expect([files, `${stdout}${stderr}`.includes(TOKEN), given.includes(TOKEN)]).toEqual([[], false, false]);
  expect(server.posts(asked.id)).toEqual([expect.stringContaining('No sprint is active.')]);
  expect(added).toBeLessThanOrEqual(MOST_MB);
}, 180_000);

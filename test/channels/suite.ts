import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { openMachine } from '../../src/engine/machine.ts';
import { PEOPLE_KINDS } from '../../src/model/people/kinds.ts';
import { messageSchema } from '../../src/model/people/message.ts';
import { deliverySchema } from '../../src/model/people/reply.ts';
import { bindWorkspace, lookIn, openWorkspace, withLedger } from '../../src/squad/open-workspace.ts';
import { channelItems } from '../../src/squad/preflight/channel-items.ts';
import { agree } from '../../src/squad/preflight/consent.ts';
import { readChannels } from '../../src/squad/preflight/read-channels.ts';
import { checkDatabase, ledgerPath } from '../../src/substrate/ledger/index.ts';
import { roomForTest } from '../cli/room.ts';
import type { FastTime } from '../support/fast-clock.ts';
import { createRandom } from '../support/random.ts';
import { testHost } from '../support/test-host.ts';

/** The other side of a channel, which outlives every service: people write there, and see what squad posts. */
export interface OtherSide {
  /** The channel `c` of squad.yaml, with two senders who may do everything. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly senders: readonly [string, string];
  /** Places in which a sender may write, each with its own order. */
  readonly places: readonly string[];
  /** `cursor`: what was written before squad knew a place is not for it, so people write once each place is on record. */
  readonly beginsAt?: 'cursor';
  /** A person writes: it is there when this resolves, whether a service runs or not. */
  write(place: string, sender: string, text: string): Promise<void>;
  /** All that people can see of what squad posted, in order. */
  posts(place: string): readonly string[];
  /** From now on some of what squad asks for fails, in a way of its own; 0: nothing does. */
  faults(chance: number, random: () => number): void;
  /** Nothing reaches it, and nothing comes from it. */
  away(isAway: boolean): void;
}

interface Trial {
  readonly messages: number;
  readonly kills: number;
  readonly seed: number;
  /** At most; a trial that is done ends earlier. */
  readonly timeoutMs: number;
  /** After half of the messages it is away for so long, of the time that runs so fast; the other half is written meanwhile. */
  readonly away?: { readonly ms: number; readonly time: FastTime };
}

/** Messages with faults and kills: each is taken once, each reply posted once, and the order in each place is kept. */
export async function playChannel(side: OtherSide, { messages, kills, seed, timeoutMs, away }: Trial): Promise<void> {
  const random = createRandom(seed);
  const { repository, root } = roomForTest();
  const channel = { ...side.settings, messagesPerHour: 1_000 };
  writeFileSync(join(repository, 'squad.yaml'), JSON.stringify({ version: 1, channels: { c: channel } }));
  const host = testHost(root, { workingDirectory: repository });
  const workspace = bindWorkspace(await openWorkspace({ host, composition: openMachine(host) }));
  const { channels, source } = await readChannels(repository);
  for (const [name, settings] of Object.entries(channels))
    await agree(
      channelItems(name, settings, source),
      { ...workspace.composition, host, confirm: async () => true },
      { repository: workspace.repository, yes: false },
    );

  let child: ChildProcess | undefined;
  const start = (): void => {
    const env = {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: join(tmpdir(), 'squad-test-compile-cache'),
      XDG_STATE_HOME: join(root, 'state'),
      ...side.environment,
      ...(away === undefined
        ? {}
        : { SQUAD_TEST_FROM: String(away.time.from), SQUAD_TEST_SPEED: String(away.time.speed) }),
    };
    child = spawn(process.execPath, [join(import.meta.dirname, '../fixtures/channels/service.ts'), root, repository], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env,
    });
  };
  const kill = async (): Promise<void> => {
    if (child === undefined) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
    child = undefined;
  };
  onTestFinished(kill);

  const written = new Map(side.places.map((place) => [place, [] as string[]]));
  side.faults(0.2, random);
  const deadline = Date.now() + timeoutMs;
  const everyone = async (): Promise<void> => {
    const leaves = away === undefined ? -1 : Math.floor(messages / 2);
    for (let index = 0; index < messages; index += 1) {
      if (index === leaves) side.away(true);
      const place = side.places[Math.floor(random() * side.places.length)] ?? '';
      const sender = side.senders[Math.floor(random() * 2)] ?? '';
      const text = `message ${index}`;
      await side.write(place, sender, text);
      written.get(place)?.push(text);
      if (random() < 0.3) await sleep(random() * 50);
    }
    if (away === undefined) return;
    await sleep(away.ms / away.time.speed);
    side.away(false);
  };
  start();
  const isKnown = (): boolean =>
    lookIn(workspace, (ledger) =>
      side.places.every((place) => ledger.record(PEOPLE_KINDS.cursor, `c:${place}`) !== undefined),
    ) === true;
  while (side.beginsAt === 'cursor' && !isKnown() && Date.now() < deadline) await sleep(100);
  const seen = (place: string): string[] => side.posts(place).map((text) => text.replace(/^answer to /, ''));
  const posted = (): number => side.places.reduce((sum, place) => sum + side.posts(place).length, 0);
  const isDone = (): boolean => side.places.every((place) => seen(place).length >= (written.get(place)?.length ?? 0));
  const wrote = everyone();
  for (let left = kills; left > 0; left -= 1) {
    // A service that has not begun to post would be killed in vain.
    const before = posted();
    const wait = 1 + random() * 3;
    for (const end = Date.now() + 5_000; posted() < before + wait && !isDone() && Date.now() < end;) await sleep(20);
    await sleep(random() * 300);
    await kill();
    if (random() < 0.3) await sleep(random() * 500);
    start();
  }
  await wrote;
  while (!isDone() && Date.now() < deadline) await sleep(100);
  // What would be posted twice had its time.
  await sleep(700);
  await kill();
  for (const place of side.places) expect(seen(place), place).toEqual(written.get(place));
  await withLedger(workspace, 'read', (ledger) => {
    const texts = ledger.records(PEOPLE_KINDS.message).map(({ value }) => messageSchema.parse(value).text);
    expect(texts.toSorted()).toEqual([...written.values()].flat().toSorted());
    const states = ledger.records(PEOPLE_KINDS.delivery).map(({ value }) => deliverySchema.parse(value).state);
    // The last post may have come through right before the kill.
    expect(states.filter((state) => state === 'posted').length).toBeGreaterThanOrEqual(messages - side.places.length);
  });
  expect(checkDatabase(ledgerPath(workspace.directory))).toMatchObject({ problems: [] });
}

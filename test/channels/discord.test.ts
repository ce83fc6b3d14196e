import { expect, it, onTestFinished } from 'vitest';
import { ALICE, DiscordServer, type Fault, ROOM, TOKEN } from '../support/discord-server.ts';
import { fastNow } from '../support/fast-clock.ts';
import { ALL, NIGHT } from '../support/lane.ts';
import { playChannel, type OtherSide } from './suite.ts';

const BOB = '1198374650123456788';
const FAULTS: readonly Fault[] = ['limit', 'error', 'cut', 'cut-after'];

/** A Discord in which calls fail, connections end in each way that there is, and events come twice. */
async function openSide(now = Date.now): Promise<OtherSide> {
  const server = await DiscordServer.open({ heartbeatMs: 1_000, limitSeconds: 0.1, now });
  onTestFinished(async () => server.close());
  const direct = server.directOf(ALICE).id;
  const all = ['ask', 'request', 'control', 'answer'];
  let disturb = (): void => undefined;
  return {
    settings: {
      ...{ type: 'discord', token: 'DISCORD_TOKEN', api: server.api, places: [ROOM] },
      senders: { [ALICE]: all, [BOB]: all },
    },
    environment: { DISCORD_TOKEN: TOKEN },
    senders: [ALICE, BOB],
    places: [ROOM, direct],
    beginsAt: 'cursor',
    write: async (place, sender, text) => {
      disturb();
      server.say(text, place === ROOM ? { by: sender } : { room: place, by: ALICE, mention: false });
    },
    // Each answer in the channel has a thread of its own; their order is that of their ids.
    posts: (place) =>
      server
        .allPosts()
        .filter(({ channel_id: room }) => (place === direct) === (room === direct))
        .toSorted((one, other) => Number(BigInt(one.id) - BigInt(other.id)))
        .map(({ content }) => content),
    away: (isAway) => void (server.isAway = isAway),
    faults: (chance, random) => {
      server.atRandom = () => (random() < chance ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined);
      const ways = [
        () => server.gateway.cut(),
        () => server.gateway.askToReconnect(),
        () => server.gateway.invalidate(),
        () => server.gateway.replayLast(3),
      ];
      disturb = () => void (random() < chance / 2 && ways[Math.floor(random() * ways.length)]?.());
    },
  };
}

it(
  'Discord loses and repeats nothing over 50 messages with faults and kills',
  { ...ALL, timeout: 240_000 },
  async () => {
    await playChannel(await openSide(), { messages: 50, kills: 3, seed: 1, timeoutMs: 200_000 });
    expect.hasAssertions();
  },
);

it(
  'Discord loses and repeats nothing where it is away for half an hour, and keeps the order of each place',
  { ...ALL, timeout: 400_000 },
  async () => {
    const time = { from: Date.now(), speed: 60 };
    const side = await openSide(() => fastNow(time));
    await playChannel(side, { messages: 60, kills: 0, seed: 3, timeoutMs: 360_000, away: { ms: 1_800_000, time } });
    expect.hasAssertions();
  },
);

it(
  'Discord loses and repeats nothing over 1,000 messages and 200 kills',
  { ...NIGHT, timeout: 1_500_000 },
  async () => {
    await playChannel(await openSide(), { messages: 1_000, kills: 200, seed: 2, timeoutMs: 1_200_000 });
    expect.hasAssertions();
  },
);

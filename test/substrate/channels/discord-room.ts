import { onTestFinished } from 'vitest';
import type { DiscordSettings } from '../../../src/model/people/settings.ts';
import type { Channel, IncomingMessage, ListenPorts, Post, Posted } from '../../../src/substrate/ports/channel.ts';
import { createDiscord } from '../../../src/substrate/channels/discord/index.ts';
import { createSystemClock } from '../../../src/substrate/system/clock/system-clock.ts';
import { ALICE, DiscordServer, type DiscordOptions, ROOM, TOKEN } from '../../support/discord-server.ts';

/** What a ledger keeps of a channel. It outlives a process. */
export class Kept {
  readonly after = new Map<string, string>();
  readonly taken: IncomingMessage[] = [];
  /** Messages that were handed in again. */
  readonly again: string[] = [];
  readonly said: string[] = [];
  /** How the connection was. */
  readonly states: string[] = [];
  /** Called with each message before it is on record; may throw. */
  beforeTake: (message: IncomingMessage) => void | Promise<void> = () => undefined;

  ports(): ListenPorts {
    return {
      after: () => this.after,
      take: async (message) => {
        await this.beforeTake(message);
        if (this.taken.some(({ id }) => id === message.id)) this.again.push(message.id);
        else this.taken.push(message);
        this.after.set(message.place, message.id);
      },
      passed: async (place, id) => void this.after.set(place, id),
      state: (now, why = '') => void this.states.push(`${now} ${why}`.trim()),
      say: (text) => void this.said.push(text),
    };
  }

  texts(): string[] {
    return this.taken.map(({ text }) => text);
  }
}

export async function until(what: string, isSo: () => boolean, ms = 12_000): Promise<void> {
  const end = Date.now() + ms;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => void setTimeout(resolve, 10));
  }
}

export class DiscordRoom {
  readonly server: DiscordServer;
  readonly kept = new Kept();
  readonly settings: DiscordSettings;
  private stopLast: (() => Promise<void>) | undefined;

  private constructor(server: DiscordServer, settings: Partial<DiscordSettings>) {
    this.server = server;
    this.settings = {
      ...{ type: 'discord', token: 'DISCORD_TOKEN', places: [ROOM], messagesPerHour: 30, api: server.api },
      senders: { [ALICE]: ['ask', 'request'] },
      ...settings,
    };
  }

  static async open(settings: Partial<DiscordSettings> = {}, options: DiscordOptions = {}): Promise<DiscordRoom> {
    const server = await DiscordServer.open(options);
    const room = new DiscordRoom(server, settings);
    onTestFinished(async () => {
      await room.stop();
      await server.close();
    });
    return room;
  }

  async channel(token = TOKEN): Promise<Channel> {
    return createDiscord(this.settings, { clock: createSystemClock(), token });
  }

  /** A process that listens until it is stopped. Resolves once it has a session and has read what was said before. */
  async listen(token = TOKEN): Promise<Channel> {
    const channel = await this.channel(token);
    const stopped = new AbortController();
    const before = this.kept.states.length;
    const ended = channel.listen(this.kept.ports(), stopped.signal);
    this.stopLast = async () => {
      stopped.abort();
      await ended;
    };
    if (token !== TOKEN) return channel;
    await until('connected', () => this.kept.states.slice(before).includes('connected'));
    await until('all places are known', () => this.kept.after.has(ROOM) || !this.settings.places.includes(ROOM));
    return channel;
  }

  async stop(): Promise<void> {
    const stop = this.stopLast;
    this.stopLast = undefined;
    await stop?.();
  }
}

/** As the one that posts does: it waits as long as the channel says, and tries again. */
export async function post(channel: Channel, one: Post, triedAt?: number): Promise<{ answer: Posted; tries: number }> {
  let first = triedAt;
  for (let tries = 1; ; tries += 1) {
    const at = Date.now();
    const answer = await channel.send({ ...one, triedAt: first });
    if (answer.did !== 'later' || tries === 10) return { answer, tries };
    first ??= at;
    await new Promise((resolve) => void setTimeout(resolve, answer.afterMs ?? 50));
  }
}

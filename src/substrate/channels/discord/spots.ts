import type { APIChannel, APIMessage } from 'discord-api-types/v10';
import { plainLine } from '../../../text/plain-text.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DiscordApi } from './api.ts';
import type { Spot } from './incoming.ts';
import { ownThread, placeOf } from './places.ts';

const DIRECT = 1;
const THREADS: readonly number[] = [10, 11, 12];
const MOST_REMEMBERED = 1_000;
const WAIT_MS = 5_000;

export interface SpotPorts {
  readonly api: Pick<DiscordApi, 'channel'>;
  readonly clock: Clock;
  /** Channels of the settings. */
  readonly places: readonly string[];
}

export type Spots = ReturnType<typeof createSpots>;

/** Looks channels up, as far as squad has to know them. */
export function createSpots({ api, clock, places }: SpotPorts, stopped: AbortSignal) {
  /** Squad's own threads, with the channel that each hangs below. */
  const threads = new Map<string, string>();
  const looked = new Map<string, APIChannel | undefined>();
  const names = new Map<string, string>();

  const look = async (channel: string): Promise<APIChannel | undefined> => {
    if (looked.has(channel)) return looked.get(channel);
    while (!stopped.aborted) {
      const found = await api.channel(channel);
      if ('value' in found || found.did === 'refused') {
        remember(looked, channel, 'value' in found ? found.value : undefined);
        break;
      }
      await clock.sleep(found.afterMs ?? WAIT_MS, stopped);
    }
    return looked.get(channel);
  };
  return {
    /** Remembers threads that are on record. */
    learn(known: Iterable<string>): void {
      for (const place of known) {
        const { channel, parent } = placeOf(place);
        if (parent !== undefined) threads.set(channel, parent);
      }
    },
    /** Where a message is; undefined: where squad does not listen. */
    async of(channel: string, message: string, self: string, isDirect: boolean): Promise<Spot | undefined> {
      if (isDirect) return { place: channel, cursor: channel, isOurs: true };
      if (places.includes(channel)) return { place: ownThread(channel, message), cursor: channel, isOurs: false };
      const parent = threads.get(channel);
      if (parent !== undefined) return places.includes(parent) ? threadSpot(parent, channel) : undefined;
      const found = await look(channel);
      const type = Number(found?.type);
      if (type === DIRECT) return { place: channel, cursor: channel, isOurs: true };
      if (found === undefined || !THREADS.includes(type)) return undefined;
      const { parent_id: above, owner_id: owner } = found as { parent_id?: string | null; owner_id?: string };
      if (typeof above !== 'string' || !places.includes(above)) return undefined;
      if (owner === self) return threadSpot(above, channel);
      return { place: channel, cursor: channel, isOurs: false };
    },
    /** A message that counts: an answer may open a thread on it. */
    heard(message: APIMessage, place: string): void {
      const { channel, parent } = placeOf(place);
      if (parent === undefined) return;
      threads.set(channel, parent);
      if (channel === message.id) {
        remember(names, channel, plainLine(message.content.replaceAll(/<[@#:][^>]*>/g, ''), 80));
      }
    },
    nameOf: (thread: string): string => names.get(thread) || 'squad',
    isThread: (channel: string): boolean => threads.has(channel),
  };
}

function threadSpot(parent: string, channel: string): Spot {
  const place = ownThread(parent, channel);
  return { place, cursor: place, isOurs: true };
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  const [first] = map.keys();
  if (map.size > MOST_REMEMBERED && first !== undefined) map.delete(first);
}

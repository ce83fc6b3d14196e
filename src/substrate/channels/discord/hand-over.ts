import type { APIMessage } from 'discord-api-types/v10';
import { errorText } from '../../../model/errors.ts';
import { plainLine } from '../../../text/plain-text.ts';
import type { ListenPorts } from '../../ports/channel.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Failure } from './answer.ts';
import { PAGE, type DiscordApi } from './api.ts';
import { type Heard, incoming, isWritten, mentions, type Reader } from './incoming.ts';
import { idAt, isAfter, placeOf } from './places.ts';
import type { Spots } from './spots.ts';

const MOST_REMEMBERED = 2_000;
/** How far a busy channel is done with is noted this often. */
const NOTE_MS = 60_000;
const WAITS_MS = [1_000, 2_000, 5_000, 15_000, 60_000] as const;

export interface HandPorts extends ListenPorts {
  readonly api: DiscordApi;
  readonly spots: Spots;
  readonly clock: Clock;
  readonly reader: Omit<Reader, 'self'>;
  /** Channels of the settings. */
  readonly places: readonly string[];
}

/** Stands before a sender, for their direct messages, until their channel is known. */
export const DIRECTS = 'to:';

/** How long to wait after this many tries. */
export function waitAfter(tries: number): number {
  return WAITS_MS[Math.min(tries, WAITS_MS.length - 1)] ?? 0;
}

/** Hands messages over, each once as long as this process remembers it. */
export function createHand(ports: HandPorts, stopped: AbortSignal) {
  const { api, spots, reader, places } = ports;
  const handed = new Set<string>();
  const progress = createProgress(ports);

  const give = async (message: APIMessage, self: string, isDirect: boolean): Promise<void> => {
    const channel = message.channel_id;
    const spot = await spots.of(channel, message.id, self, isDirect);
    const counts = spot !== undefined && (spot.isOurs || mentions(message, self));
    if (counts && !handed.has(message.id) && isWritten(message, { ...reader, self })) {
      spots.heard(message, spot.place);
      await takeSurely(ports, async () => ports.take(incoming(message, spot, { ...reader, self })), stopped);
    }
    if (stopped.aborted) return;
    handed.add(message.id);
    const [first = ''] = handed;
    if (handed.size > MOST_REMEMBERED) handed.delete(first);
    if (spot !== undefined) progress.pass(channel, spot.cursor, message.id);
  };
  const live = async (message: Heard, self: string): Promise<void> => {
    const isDirect = message.guild_id === undefined;
    // Whatever else the bot sees is not looked into.
    const { channel_id: channel } = message;
    const isHere = places.includes(channel) || spots.isThread(channel) || progress.of(channel) !== undefined;
    if (isDirect || isHere || mentions(message, self)) await give(message, self, isDirect);
  };
  /** Reads a channel from where it is done with to its end. Returns why that did not work. */
  const catchUp = async (key: string, self: string): Promise<Failure | undefined> => {
    const isDirect = key.startsWith(DIRECTS);
    const found = isDirect ? await api.direct(key.slice(DIRECTS.length)) : { value: { id: key } };
    if (!('value' in found)) return found;
    const { id } = found.value;
    for (let after = progress.of(id); ;) {
      if (after === undefined) return begin(ports, id, progress);
      const page = await api.messages(id, { after, limit: PAGE });
      if (!('value' in page)) return page;
      for (const message of page.value) {
        await give(message, self, isDirect);
        if (stopped.aborted) return undefined;
        after = message.id;
      }
      await progress.note(page.value.length > 0);
      if (page.value.length < PAGE) return undefined;
    }
  };
  return { live, catchUp, note: progress.note, learn: progress.learn };
}

/** A channel that is new is done with up to now: what was said before squad was there was not said to it. */
async function begin(
  { api, clock }: HandPorts,
  channel: string,
  progress: ReturnType<typeof createProgress>,
): Promise<Failure | undefined> {
  const found = await api.channel(channel);
  if (!('value' in found)) return found;
  const { last_message_id: last } = found.value as { last_message_id?: string | null };
  progress.pass(channel, channel, last ?? idAt(clock.now()));
  await progress.note(true);
  return undefined;
}

/** How far each channel is done with, and what of that is on record. */
function createProgress({ after, passed, clock }: HandPorts) {
  /** By channel: the place under which it is noted, and the last id. */
  const done = new Map<string, { readonly cursor: string; readonly id: string }>();
  const unnoted = new Set<string>();
  let notedAt = clock.now();
  const pass = (channel: string, cursor: string, id: string): void => {
    const known = done.get(channel);
    if (known !== undefined && !isAfter(id, known.id)) return;
    done.set(channel, { cursor, id });
    unnoted.add(channel);
  };
  const note = async (isDue: boolean): Promise<void> => {
    if (unnoted.size === 0 || (!isDue && clock.now() - notedAt < NOTE_MS)) return;
    notedAt = clock.now();
    for (const channel of unnoted) {
      const one = done.get(channel);
      if (one !== undefined) await passed(one.cursor, one.id);
      unnoted.delete(channel);
    }
  };
  return {
    pass,
    note: async (isDue: boolean) => note(isDue).catch(() => undefined),
    of: (channel: string): string | undefined => done.get(channel)?.id,
    /** Takes over what is on record. */
    learn: (): void => {
      for (const [cursor, id] of after()) {
        const { channel } = placeOf(cursor);
        const known = done.get(channel);
        if (known === undefined || isAfter(id, known.id)) done.set(channel, { cursor, id });
      }
    },
  };
}

/** Until it is on record: nothing else is done meanwhile, so that the order stays. */
async function takeSurely({ clock, say }: HandPorts, take: () => Promise<void>, stopped: AbortSignal): Promise<void> {
  for (let tries = 0; !stopped.aborted; tries += 1) {
    try {
      return await take();
    } catch (error) {
      const why = plainLine(errorText(error));
      if (tries === 0) say(`Discord: a message cannot be recorded, and squad tries again: ${why}`);
      await clock.sleep(waitAfter(tries), stopped);
    }
  }
}

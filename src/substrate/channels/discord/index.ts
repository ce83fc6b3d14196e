import type { APIMessage } from 'discord-api-types/v10';
import { SquadError } from '../../../model/errors.ts';
import type { DiscordSettings } from '../../../model/people/settings.ts';
import type { Channel, IncomingFile, ListenPorts } from '../../ports/channel.ts';
import type { Clock } from '../../ports/clock.ts';
import { download } from '../download.ts';
import type { Failure } from './answer.ts';
import { createApi, PAGE, type DiscordApi } from './api.ts';
import { keepConnected } from './gateway.ts';
import { createInbox } from './inbox.ts';
import { incoming, isPlain, isWritten } from './incoming.ts';
import { loadLibrary } from './library.ts';
import { placeOf } from './places.ts';
import { createCall } from './rest.ts';
import { createSender } from './send.ts';
import { createSpots } from './spots.ts';

/** The most characters of one post. */
const LONGEST = 2_000;
const NEWEST = 50;
/** Where Discord keeps what people attach. */
const FILE_HOSTS = ['cdn.discordapp.com', 'media.discordapp.net'];
const DIRECT_TRIES = 3;
const DIRECT_WAIT_MS = 1_000;

export interface DiscordPorts {
  readonly clock: Clock;
  /** The value of the variable that the settings name. */
  readonly token: string;
}

/** One bot of Discord. Loads the library; throws `wrong-environment` where it is not installed. */
export async function createDiscord(settings: DiscordSettings, ports: DiscordPorts): Promise<Channel> {
  const library = await loadLibrary();
  const api = createApi(createCall(ports.token, settings.api));
  const ended = new AbortController();
  const spots = createSpots({ api, clock: ports.clock, places: settings.places }, ended.signal);
  const sender = createSender({ api, spots, clock: ports.clock });
  const reader = {
    senders: new Set(Object.keys(settings.senders)),
    file: (one: APIMessage['attachments'][number]): IncomingFile => fileOf(one, settings.api),
  };
  return {
    longest: LONGEST,
    send: sender.send,
    listen: async (listening, stopped) => {
      stopped.addEventListener('abort', () => ended.abort(), { once: true });
      const own = warnOfSecond(sender.isOwn, settings.token, listening);
      const all = { ...listening, api, spots, clock: ports.clock, reader, places: settings.places, ownSaid: own };
      const inbox = createInbox(all, stopped);
      const { began, message } = inbox;
      const gateway = { library, api, ...ports, variable: settings.token, state: listening.state, began, message };
      await Promise.all([inbox.run(), keepConnected(gateway, stopped)]);
    },
    directPlace: async (person) => directPlace(api, person, ports.clock),
    async *history(place, after) {
      const self = valueOf(await api.self());
      for (let from = after; ;) {
        const limit = from === undefined ? NEWEST : PAGE;
        const page = valueOf(await api.messages(placeOf(place).channel, { after: from, limit }));
        for (const one of page) {
          const spot = await spots.of(one.channel_id, one.id, self, false);
          if (spot !== undefined && isWritten(one, { ...reader, self })) yield incoming(one, spot, { ...reader, self });
        }
        const last = page.at(-1);
        if (from === undefined || last === undefined || page.length < PAGE) return;
        from = last.id;
      }
    },
  };
}

function valueOf<T>(answer: { readonly value: T } | Failure): T {
  if ('value' in answer) return answer.value;
  throw new SquadError({ code: 'wrong-environment', message: answer.why });
}

function fileOf({ filename, size, url }: APIMessage['attachments'][number], named: string | undefined): IncomingFile {
  const file = { name: filename, bytes: size, url };
  return { name: filename, bytes: size, read: async () => download(file, { hosts: FILE_HOSTS, named }) };
}

async function directPlace(api: DiscordApi, person: string, clock: Clock): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    const found = await api.direct(person);
    if ('value' in found) return found.value.id;
    if (found.did === 'refused' || tries === DIRECT_TRIES) return undefined;
    await clock.sleep(found.afterMs ?? DIRECT_WAIT_MS);
  }
}

/** Says once that another program speaks as this bot: both would take each message, and answer it. */
function warnOfSecond(
  isOwn: (message: APIMessage) => boolean,
  variable: string,
  { say }: Pick<ListenPorts, 'say'>,
): (message: APIMessage) => void {
  let isSaid = false;
  return (message) => {
    if (isSaid || !isPlain(message) || isOwn(message)) return;
    isSaid = true;
    say(
      `Discord: another program speaks as this bot (message ${message.id}). Give each squad a bot of its own: two with the token of ${variable} would both answer`,
    );
  };
}

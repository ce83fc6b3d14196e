import type { API, APIChannel, APIMessage } from '@discordjs/core';
import type { REST } from '@discordjs/rest';
import { failureOf, type Failure } from './answer.ts';
import type { Library } from './library.ts';

/** Messages of one page, the most that Discord gives. */
export const PAGE = 100;
const DAYS_UNTIL_ARCHIVED = 7;
/** No previews of addresses: to show one, Discord fetches an address that an agent may have written. */
const NO_PREVIEWS = 1 << 2;
const TEXT_MS = 15_000;

export type Answer<T> = { readonly value: T } | Failure;

export interface NewMessage {
  readonly text: string;
  readonly nonce: string;
  /** The message that it answers, where there is no thread for it. */
  readonly answers?: string | undefined;
}

/** Calls of Discord, one try each. Errors are values. */
export interface DiscordApi {
  /** The bot's own id. */
  self(): Promise<Answer<string>>;
  channel(id: string): Promise<Answer<APIChannel>>;
  /** The channel of a person's direct messages. */
  direct(sender: string): Promise<Answer<APIChannel>>;
  /** The oldest after an id come first; without one, the newest. */
  messages(
    channel: string,
    query: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<Answer<APIMessage[]>>;
  post(channel: string, message: NewMessage): Promise<Answer<APIMessage>>;
  openThread(channel: string, message: string, name: string): Promise<Answer<APIChannel>>;
}

export function createRest({ rest }: Library, token: string, api: string | undefined): REST {
  // It would wait inside a call, and repeat a failed one within milliseconds.
  const oneTry = { retries: 0, rejectOnRateLimit: () => true, timeout: TEXT_MS };
  return new rest.REST({ version: '10', ...oneTry, ...(api === undefined ? {} : { api }) }).setToken(token);
}

export function createApi(library: Library, rest: REST, token: string): DiscordApi {
  const api = new library.core.API(rest);
  const call = async <T>(work: (of: API) => Promise<T>): Promise<Answer<T>> => {
    try {
      // The library forgets a token that was refused once.
      rest.setToken(token);
      return { value: await work(api) };
    } catch (error) {
      return failureOf(library, error);
    }
  };
  let own: string | undefined;
  const directs = new Map<string, Answer<APIChannel>>();
  return {
    self: async () => {
      if (own !== undefined) return { value: own };
      const found = await call(async ({ users }) => users.getCurrent());
      if (!('value' in found)) return found;
      own = found.value.id;
      return { value: own };
    },
    channel: async (id) => call(async ({ channels }) => channels.get(id)),
    direct: async (sender) => {
      const found = directs.get(sender) ?? (await call(async ({ users }) => users.createDM(sender)));
      if ('value' in found) directs.set(sender, found);
      return found;
    },
    messages: async (channel, { after, limit }) =>
      call(async ({ channels }) => {
        const found = await channels.getMessages(channel, { limit, ...(after === undefined ? {} : { after }) });
        return found.toReversed();
      }),
    post: async (channel, { text, nonce, answers }) =>
      call(async ({ channels }) =>
        channels.createMessage(channel, {
          ...{ content: text, nonce, enforce_nonce: true, flags: NO_PREVIEWS },
          // Whatever a text says, it calls no one.
          allowed_mentions: { parse: [] },
          ...(answers === undefined ? {} : { message_reference: { message_id: answers, fail_if_not_exists: false } }),
        }),
      ),
    openThread: async (channel, message, name) =>
      call(async ({ channels }) =>
        channels.createThread(channel, { name, auto_archive_duration: DAYS_UNTIL_ARCHIVED * 24 * 60 }, message),
      ),
  };
}

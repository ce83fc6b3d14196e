import type { APIChannel, APIMessage } from 'discord-api-types/v10';
import type { Answer, Call } from './rest.ts';

/** Messages of one page, the most that Discord gives. */
export const PAGE = 100;
const DAYS_UNTIL_ARCHIVED = 7;
/** No previews of addresses: to show one, Discord fetches an address that an agent may have written. */
const NO_PREVIEWS = 1 << 2;

interface NewMessage {
  readonly text: string;
  readonly nonce: string;
  /** The message that it answers, where there is no thread for it. */
  readonly answers?: string | undefined;
}

export interface DiscordApi {
  /** The bot's own id. */
  self(): Promise<Answer<string>>;
  /** Where the gateway is. */
  gateway(): Promise<Answer<unknown>>;
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

export function createApi(call: Call): DiscordApi {
  let own: string | undefined;
  const directs = new Map<string, Answer<APIChannel>>();
  return {
    self: async () => {
      if (own !== undefined) return { value: own };
      const found = await call<{ id: string }>('GET', 'users/@me');
      if (!('value' in found)) return found;
      own = found.value.id;
      return { value: own };
    },
    gateway: async () => call('GET', 'gateway/bot'),
    channel: async (id) => call('GET', `channels/${id}`),
    direct: async (sender) => {
      const found = directs.get(sender) ?? (await call('POST', 'users/@me/channels', { recipient_id: sender }));
      if ('value' in found) directs.set(sender, found);
      return found;
    },
    messages: async (channel, { after, limit }) => {
      const since = after === undefined ? '' : `&after=${after}`;
      const found = await call<APIMessage[]>('GET', `channels/${channel}/messages?limit=${limit}${since}`);
      return 'value' in found ? { value: found.value.toReversed() } : found;
    },
    post: async (channel, { text, nonce, answers }) =>
      call('POST', `channels/${channel}/messages`, {
        ...{ content: text, nonce, enforce_nonce: true, flags: NO_PREVIEWS },
        // Whatever a text says, it calls no one.
        allowed_mentions: { parse: [] },
        ...(answers === undefined ? {} : { message_reference: { message_id: answers, fail_if_not_exists: false } }),
      }),
    openThread: async (channel, message, name) =>
      call('POST', `channels/${channel}/messages/${message}/threads`, {
        name,
        auto_archive_duration: DAYS_UNTIL_ARCHIVED * 24 * 60,
      }),
  };
}

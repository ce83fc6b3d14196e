import type { APIMessage } from 'discord-api-types/v10';
import { plainLine } from '../../../text/plain-text.ts';
import type { IncomingFile, IncomingMessage } from '../../ports/channel.ts';

/** A plain message, and an answer to one. All others are written by Discord: someone joined, a thread began. */
const WRITTEN: readonly number[] = [0, 19];

/** As the gateway brings it: the server where it was written is absent for a direct message. A message that is read has none in any case. */
export type Heard = APIMessage & { readonly guild_id?: string };

/** The channel that a message is in, as far as squad has to know it. */
export interface Spot {
  /** Where answers go. */
  readonly place: string;
  /** Under which it is noted how far the channel is done with. */
  readonly cursor: string;
  /** All that is written there is for squad: a direct message, or squad's own thread. */
  readonly isOurs: boolean;
}

export interface Reader {
  /** The id of the bot. */
  readonly self: string;
  /** Bots among these are read like people. */
  readonly senders: ReadonlySet<string>;
  readonly file: (attachment: APIMessage['attachments'][number]) => IncomingFile;
}

export function isPlain({ type }: Pick<APIMessage, 'type'>): boolean {
  return WRITTEN.includes(type);
}

/** Whether someone wrote it who may be read at all. squad never reads itself. */
export function isWritten(message: APIMessage, { self, senders }: Pick<Reader, 'self' | 'senders'>): boolean {
  const { author, webhook_id: webhook } = message;
  if (!isPlain(message) || author.id === self) return false;
  return (author.bot !== true && webhook === undefined) || senders.has(author.id);
}

/** An answer to a line of squad mentions it too, unless its sender switched that off. */
export function mentions(message: Pick<APIMessage, 'mentions'>, self: string): boolean {
  return message.mentions.some(({ id }) => id === self);
}

/** A message as squad takes it: without the mention that only calls it. */
export function incoming(message: APIMessage, { place, isOurs }: Spot, reader: Reader): IncomingMessage {
  const { self, file } = reader;
  return {
    id: message.id,
    sender: message.author.id,
    name: plainLine(message.author.global_name ?? message.author.username, 80),
    place,
    text: without(without(message.content, `<@${self}>`), `<@!${self}>`),
    isToUs: isOurs || mentions(message, self),
    attachments: message.attachments.map((one) => file(one)),
    at: Date.parse(message.timestamp),
  };
}

function without(text: string, mention: string): string {
  const pieces = text.split(mention).map((piece) => piece.trim());
  return pieces.filter((piece) => piece !== '').join(' ');
}

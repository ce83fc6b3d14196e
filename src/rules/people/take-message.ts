import { MOST_ATTACHMENTS, MOST_TEXT_BYTES } from '../sprint/intake.ts';

export const HOUR_MS = 3_600_000;

export interface TakeView {
  readonly message: {
    readonly isToUs: boolean;
    readonly text: string;
    /** Epoch ms. */
    readonly at: number;
    readonly attachments: readonly unknown[];
  };
  /** It is on record. */
  readonly isKnown: boolean;
  /** The settings name its sender. */
  readonly isSender: boolean;
  readonly messagesPerHour: number;
  /** When this sender's messages were written that are on record and counted. */
  readonly taken: readonly number[];
  /** When this sender last read that there are too many. */
  readonly noticedAt?: number | undefined;
}

export type TakeDecision =
  /** `stranger`: its sender is not named, and hears nothing. `others`: it is not for squad. `known`: it is on record. */
  | { readonly do: 'leave'; readonly why: 'stranger' | 'others' | 'known' }
  /** On record, and nothing is done with it. `says`: for its sender; empty: there is no answer. */
  | { readonly do: 'refuse'; readonly says: string }
  | { readonly do: 'take' };

/** Says what becomes of a message before anything of it is read: strangers, and senders above their number, cost nothing. */
export function takeMessage(view: TakeView): TakeDecision {
  const { message, messagesPerHour: most, noticedAt } = view;
  if (view.isKnown) return { do: 'leave', why: 'known' };
  if (!message.isToUs) return { do: 'leave', why: 'others' };
  if (!view.isSender) return { do: 'leave', why: 'stranger' };
  const recent = view.taken.filter((at) => Math.abs(message.at - at) < HOUR_MS);
  if (recent.length >= most) {
    const isSaid = noticedAt !== undefined && Math.abs(message.at - noticedAt) < HOUR_MS;
    return { do: 'refuse', says: isSaid ? '' : `${TOO_MANY}${most} messages within an hour. ${LATER}` };
  }
  if (Buffer.byteLength(message.text) > MOST_TEXT_BYTES) return refuse('its text is longer than 64 KiB');
  const files = message.attachments.length;
  if (files > MOST_ATTACHMENTS) return refuse(`it has ${files} files, and ${MOST_ATTACHMENTS} are allowed`);
  return { do: 'take' };
}

const TOO_MANY = 'You sent more than ';
const LATER = 'What you send above that is not read.';

export function isTooMany(refused: string): boolean {
  return refused.startsWith(TOO_MANY);
}

/** `why`: what is wrong with the message. */
export function refuse(why: string): Extract<TakeDecision, { do: 'refuse' }> {
  return {
    do: 'refuse',
    says: `This message was not taken: ${why}. Nothing was done with it; send it again without that.`,
  };
}

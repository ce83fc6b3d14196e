import type { Delivery, Reply } from '../../model/people/reply.ts';
import { sha256Of } from '../../model/sha256.ts';
import { pauseAfter } from '../service/engine-pause.ts';
import { chunkText } from './chunk-text.ts';

/** A time that lies further ahead comes from a clock that was set back since. */
const FAR_MS = 3_600_000;
/** With pauses of up to five minutes: four hours. After that the channel continues with what follows. */
const MOST_TRIES = 50;

export interface DueReply {
  readonly id: string;
  readonly reply: Reply;
  /** Absent: nothing was tried yet. */
  readonly delivery?: Delivery | undefined;
}

export interface PostView {
  readonly now: number;
  /** Those of one channel, the oldest first. */
  readonly due: readonly DueReply[];
  readonly longest: number;
}

export type NextPost =
  | {
      readonly do: 'post';
      readonly id: string;
      /** On record before the channel gets it. */
      readonly begun: Delivery;
      readonly post: {
        readonly place: string;
        readonly text: string;
        readonly nonce: string;
        readonly triedAt?: number | undefined;
      };
    }
  /** undefined: until something changes. */
  | { readonly do: 'wait'; readonly until: number | undefined };

/** The one post that is next in a channel. A reply that waits holds those after it, so that their order stays. */
export function nextPost({ now, due, longest }: PostView): NextPost {
  const [first] = due;
  if (first === undefined) return { do: 'wait', until: undefined };
  const { id, reply, delivery = NEW } = first;
  const { retryAt = 0, triedAt, instead } = delivery;
  if (retryAt > now && retryAt - now <= FAR_MS) return { do: 'wait', until: retryAt };
  const place = instead ?? reply.place;
  const text = partsOf(reply, delivery, longest)[delivery.parts] ?? '';
  const nonce = sha256Of(`squad-post\0${id}\0${place}\0${delivery.parts}`).slice(0, 24);
  return { do: 'post', id, begun: { ...delivery, triedAt: triedAt ?? now }, post: { place, text, nonce, triedAt } };
}

const NEW: Delivery = { state: 'due', tries: 0, parts: 0 };

function partsOf(reply: Reply, { instead, why }: Delivery, longest: number): string[] {
  const note = instead === undefined ? '' : `(This was for ${reply.place}: ${why ?? 'that place is gone'}.)\n`;
  return chunkText(`${note}${reply.text}`, longest);
}

export type PostResult =
  | { readonly did: 'posted' }
  | { readonly did: 'later'; readonly why: string; readonly afterMs?: number | undefined }
  | { readonly did: 'refused'; readonly why: string; readonly gone: boolean };

export interface Elsewhere {
  /** The place in which its sender reads alone. */
  readonly direct?: string | undefined;
  /** The channel's report place. */
  readonly report?: string | undefined;
}

/** Makes what is on record after a try. */
export function afterPost(
  { reply, delivery = NEW }: Omit<DueReply, 'id'>,
  result: PostResult,
  { now, longest, direct, report }: Pick<PostView, 'now' | 'longest'> & Elsewhere,
): Delivery {
  const { triedAt, retryAt: _, ...before } = delivery;
  switch (result.did) {
    case 'posted': {
      const parts = before.parts + 1;
      const isWhole = parts >= partsOf(reply, delivery, longest).length;
      return { ...before, state: isWhole ? 'posted' : 'due', parts, tries: 0 };
    }
    case 'later': {
      const tries = before.tries + 1;
      if (tries >= MOST_TRIES) return { ...before, state: 'refused', tries, why: result.why };
      const pause = Math.min(Math.max(result.afterMs ?? 0, pauseAfter(tries)), FAR_MS);
      return { ...before, tries, ...(triedAt === undefined ? {} : { triedAt }), retryAt: now + pause };
    }
    case 'refused': {
      const places = [reply.place, direct, report];
      const current = before.instead ?? reply.place;
      const next = places
        .slice(places.indexOf(current) + 1)
        .find((one) => one !== undefined && one !== current && one !== reply.place);
      const why = before.why ?? (result.gone ? 'that place is gone' : `it was refused there: ${result.why}`);
      if (next === undefined) return { ...before, state: 'refused', tries: before.tries + 1, why };
      return { state: 'due', tries: 0, parts: 0, instead: next, why };
    }
    default:
      return result satisfies never;
  }
}

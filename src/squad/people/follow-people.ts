import { PEOPLE_KINDS } from '../../model/people/kinds.ts';
import { WORKSPACE_STREAM } from '../../model/ledger-event.ts';
import { cursorSchema, messageSchema } from '../../model/people/message.ts';
import { deliverySchema, replySchema } from '../../model/people/reply.ts';
import type { DueReply } from '../../rules/people/next-post.ts';
import { HOUR_MS, isTooMany } from '../../rules/people/take-message.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { asObject } from '../../text/json.ts';

/** All that the delivery of messages and replies goes by. Small: texts of messages stay in the ledger. */
interface Followed {
  /** By channel and place. */
  readonly cursors: ReadonlyMap<string, string>;
  /** By channel and sender: when the messages of the last hours were written that count. */
  readonly taken: ReadonlyMap<string, readonly number[]>;
  /** By channel and sender: when one last read that there are too many. */
  readonly noticed: ReadonlyMap<string, number>;
  /** Replies that are not posted, in the order in which they were written. */
  readonly due: ReadonlyMap<string, DueReply>;
}

export type FollowPeople = (ledger: Pick<Ledger, 'records' | 'events' | 'lastSeq' | 'snapshot'>) => Followed;

/** In a record's id and here: a channel's name has no colon. */
export function keyIn(channel: string, id: string): string {
  return `${channel}:${id}`;
}

const KINDS = [PEOPLE_KINDS.cursor, PEOPLE_KINDS.message, PEOPLE_KINDS.reply, PEOPLE_KINDS.delivery];

/** Reads the records of people at the first call, and then only what was written since. */
export function followPeople(): FollowPeople {
  const cursors = new Map<string, string>();
  const taken = new Map<string, number[]>();
  const noticed = new Map<string, number>();
  const due = new Map<string, DueReply>();
  let seq: number | undefined;
  const note = (kind: unknown, id: string, value: unknown): void => {
    if (kind === PEOPLE_KINDS.cursor) cursors.set(id, cursorSchema.parse(value).after);
    if (kind === PEOPLE_KINDS.message) {
      const { channel, sender, at, refused } = messageSchema.parse(value);
      const key = keyIn(channel, sender);
      if (refused === undefined)
        taken.set(key, [...(taken.get(key) ?? []).filter((one) => one > at - 3 * HOUR_MS), at]);
      else if (isTooMany(refused)) noticed.set(key, at);
    }
    if (kind === PEOPLE_KINDS.reply) due.set(id, { id, reply: replySchema.parse(value) });
    if (kind === PEOPLE_KINDS.delivery) {
      const delivery = deliverySchema.parse(value);
      const one = due.get(id);
      if (delivery.state !== 'due') due.delete(id);
      else if (one !== undefined) due.set(id, { ...one, delivery });
    }
  };
  return (ledger) => {
    if (seq === undefined) {
      ledger.snapshot(() => {
        for (const kind of KINDS) for (const { id, value } of ledger.records(kind)) note(kind, id, value);
        seq = ledger.lastSeq();
      });
    } else {
      const events = ledger.events({ stream: WORKSPACE_STREAM, after: seq, types: ['record-written'] });
      for (const { data } of events) {
        const { kind, id, value } = asObject(data);
        note(kind, String(id), value);
      }
      seq = events.at(-1)?.seq ?? seq;
    }
    return { cursors, taken, noticed, due };
  };
}

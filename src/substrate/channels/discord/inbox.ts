import { CODE } from './answer.ts';
import { createHand, DIRECTS, waitAfter, type HandPorts } from './hand-over.ts';
import type { Heard } from './incoming.ts';
import { placeOf, timeOf } from './places.ts';

/** So many messages wait to be taken. Those above it are read from their channel later. */
const MOST_WAITING = 1_000;
/** Threads that squad looks into after an absence: the newest of those in which something was said lately. */
const MOST_THREADS = 200;
const THREAD_MS = 30 * 86_400_000;
const IDLE_MS = 60_000;

export interface InboxPorts extends HandPorts {
  /** A message of the bot itself. */
  readonly ownSaid: (message: Heard) => void;
}

/** A channel of which not all is taken yet. Its live messages are left: to read it brings them, in order. */
interface Behind {
  tries: number;
  notBefore: number;
}

/** Takes what comes by the gateway, and what was said before it began, one message after the other. */
export function createInbox(ports: InboxPorts, stopped: AbortSignal) {
  const { clock, say, spots } = ports;
  const waiting: Heard[] = [];
  /** By channel, or by sender where the channel of direct messages is not known yet. */
  const behind = new Map<string, Behind>();
  const hand = createHand(ports, stopped);
  let self = '';
  let woken = new AbortController();
  const began = (id: string): void => {
    self = id;
    spots.learn(ports.after().keys());
    hand.learn();
    for (const key of allPlaces(ports)) behind.set(key, { tries: 0, notBefore: 0 });
    woken.abort();
  };
  const message = (one: Heard): void => {
    if (one.author.id === self) return ports.ownSaid(one);
    if (waiting.length < MOST_WAITING) waiting.push(one);
    else behind.set(one.channel_id, { tries: 0, notBefore: 0 });
    woken.abort();
  };
  const catchUp = async (key: string, one: Behind): Promise<void> => {
    behind.delete(key);
    const failure = await hand.catchUp(key, self);
    if (failure?.did === 'later') {
      if (one.tries === 1) say(`Discord: what was said meanwhile cannot be read yet: ${failure.why}`);
      behind.set(key, { tries: one.tries + 1, notBefore: clock.now() + (failure.afterMs ?? waitAfter(one.tries)) });
    } else if (failure !== undefined && failure.code !== CODE.noDirectMessages && !spots.isThread(key)) {
      const place = key.startsWith(DIRECTS) ? `direct messages of ${key.slice(DIRECTS.length)}` : `the channel ${key}`;
      say(`Discord: ${place} cannot be read: ${failure.why}`);
    }
  };
  const idle = async (): Promise<void> => {
    woken = new AbortController();
    const next = Math.min(clock.now() + IDLE_MS, ...[...behind.values()].map(({ notBefore }) => notBefore));
    if (waiting.length > 0 || next <= clock.now()) return;
    await clock.sleep(next - clock.now(), AbortSignal.any([woken.signal, stopped]));
  };
  const run = async (): Promise<void> => {
    while (!stopped.aborted) {
      const now = clock.now();
      const due = [...behind].find(([, { notBefore }]) => notBefore <= now);
      const next = due === undefined ? waiting.shift() : undefined;
      if (due !== undefined) await catchUp(...due);
      else if (next === undefined) await idle();
      else if (!behind.has(next.channel_id)) await hand.live(next, self);
      await hand.note(false);
    }
    await hand.note(true);
  };
  return { began, message, run };
}

function allPlaces({ places, after, reader, clock }: HandPorts): Set<string> {
  const since = clock.now() - THREAD_MS;
  const known = [...after()]
    .map(([place, id]) => ({ ...placeOf(place), at: timeOf(id) }))
    .toSorted((one, other) => other.at - one.at);
  const threads = known.filter(({ parent, at }) => parent !== undefined && places.includes(parent) && at > since);
  const others = known.filter(({ parent }) => parent === undefined);
  return new Set([
    ...places,
    ...[...reader.senders].map((sender) => `${DIRECTS}${sender}`),
    ...[...others.slice(0, MOST_THREADS), ...threads.slice(0, MOST_THREADS)].map(({ channel }) => channel),
  ]);
}

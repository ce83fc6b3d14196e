import type { Message, Outcome } from '../../model/people/message.ts';
import type { People } from '../../model/people/people.ts';
import { mayUse, needsYes, VERBS, type Intent, type Right, type Verb } from '../../model/people/verbs.ts';
import type { RunState } from '../sprint/decide-team.ts';
import { readWords, type Words } from './read-words.ts';
import { cannotRead, mayNot, NOTHING_WAITS } from './refusals.ts';

/** All that is looked at. Times are epoch ms. */
export interface PeopleView {
  readonly now: number;
  readonly people: People;
  /** Its sender’s rights now; undefined: the settings name this sender no longer. */
  readonly rightsOf: (message: Pick<Message, 'channel' | 'sender'>) => readonly Right[] | undefined;
  readonly runState: (run: string) => RunState;
  /** A cap of the day is reached: no run begins until then. */
  readonly cappedUntil?: number | undefined;
}

export type PeopleDecision =
  /** Does what a message means. `yes`: the message that has confirmed it. */
  | { readonly do: 'act'; readonly message: string; readonly intent: Intent; readonly yes?: string | undefined }
  /** A model has read this out of free text: its sender has to confirm it. */
  | { readonly do: 'ask-yes'; readonly message: string; readonly intent: Intent }
  /** `says`: for its sender; undefined: there is no answer. */
  | { readonly do: 'refuse'; readonly message: string; readonly says?: string | undefined }
  /** Its sender has said no to it. */
  | { readonly do: 'drop'; readonly message: string; readonly intent: Intent; readonly no: string }
  /** The run that reads these is not on record yet: whatever opened it has died since. */
  | { readonly do: 'submit-read'; readonly ask: string }
  | { readonly do: 'read'; readonly messages: readonly string[] }
  | { readonly do: 'wait'; readonly until: number | undefined };

/** A yes counts for so long. */
const YES_MS = 3_600_000;
/** More would not fit into one look of a model. */
const MOST_MESSAGES = 10;
const MOST_CHARACTERS = 96 * 1024;
/** So many runs may try to read a message. */
const MOST_TRIES = 2;

/** The one thing that is done next for messages: what needs no model first, in the order in which they came. */
export function decidePeople(view: PeopleView): PeopleDecision {
  const free: string[] = [];
  for (const [id, message] of view.people.message) {
    if (view.people.outcome.has(id)) continue;
    const decided = withoutModel(view, id, message);
    if (decided !== undefined) return decided;
    free.push(id);
  }
  for (const id of free) {
    const intent = view.people.reading.get(id)?.intent;
    if (intent !== undefined) return asRead(view, id, intent);
  }
  return toRead(view, free);
}

/** Decides without reading the text as a person would; undefined: it is free text. */
function withoutModel(view: PeopleView, id: string, message: Message): PeopleDecision | undefined {
  if (message.refused !== undefined)
    return { do: 'refuse', message: id, says: message.refused === '' ? undefined : message.refused };
  const rights = view.rightsOf(message);
  if (rights === undefined) return { do: 'refuse', message: id };
  const words = readWords(message.text);
  if (words === undefined) return undefined;
  return byWords(view, id, { message, words, rights });
}

interface Read {
  readonly message: Message;
  readonly words: Words;
  readonly rights: readonly Right[];
}

function byWords(view: PeopleView, id: string, { message, words, rights }: Read): PeopleDecision {
  if (words.says === 'wrong') return { do: 'refuse', message: id, says: words.why };
  if (words.says === 'intent')
    return allowed(rights, id, words.intent) ?? { do: 'act', message: id, intent: words.intent };
  const waiting = waitingFor(view.people, message);
  const intent = waiting === undefined ? undefined : view.people.reading.get(waiting)?.intent;
  if (waiting === undefined || intent === undefined) return { do: 'refuse', message: id, says: NOTHING_WAITS };
  if (words.says === 'no') return { do: 'drop', message: waiting, intent, no: id };
  // Rights may have been taken away meanwhile.
  return allowed(rights, id, intent) ?? { do: 'act', message: waiting, intent, yes: id };
}

/** The newest message of the same sender in the same place that waits for a yes. */
function waitingFor({ message, outcome }: People, { channel, sender, place, at }: Message): string | undefined {
  return [...message].findLast(([id, one]) => {
    const isTheirs = one.channel === channel && one.sender === sender && one.place === place;
    return isTheirs && isWaiting(outcome.get(id), at);
  })?.[0];
}

function isWaiting(outcome: Outcome | undefined, at: number): boolean {
  return outcome?.state === 'waits' && at - outcome.at <= YES_MS;
}

/** A refusal where this sender may not do that. */
function allowed(rights: readonly Right[], message: string, { verb }: Intent): PeopleDecision | undefined {
  return verb === 'none' || mayUse(rights, verb) ? undefined : { do: 'refuse', message, says: mayNot(verb, rights) };
}

/** A model is never believed more than the text's sender. */
function asRead(view: PeopleView, id: string, intent: Intent): PeopleDecision {
  const message = view.people.message.get(id);
  const rights = (message === undefined ? undefined : view.rightsOf(message)) ?? [];
  const refused = allowed(rights, id, intent);
  if (refused !== undefined) return refused;
  return { do: needsYes(intent.verb) ? 'ask-yes' : 'act', message: id, intent };
}

/** `free`: those that no model has read yet. */
function toRead(view: PeopleView, free: readonly string[]): PeopleDecision {
  const { people, runState, now, cappedUntil } = view;
  const unread = new Set(free);
  const asks = [...people.ask].filter(([, { messages }]) => messages.some((id) => unread.has(id)));
  const absent = asks.find(([, { run }]) => runState(run) === 'absent')?.[0];
  if (absent !== undefined) return { do: 'submit-read', ask: absent };
  const tries = (id: string): number => asks.filter(([, { messages }]) => messages.includes(id)).length;
  const isRead = asks.some(([, { run }]) => runState(run) === 'open');
  // One at a time: the next one then has more to read.
  if (free.length === 0 || isRead) return { do: 'wait', until: undefined };
  const left = free.find((id) => tries(id) >= MOST_TRIES);
  if (left !== undefined) return { do: 'refuse', message: left, says: cannotRead(rightsIn(view, left)) };
  if (cappedUntil !== undefined && cappedUntil > now) return { do: 'wait', until: cappedUntil };
  return { do: 'read', messages: fitting(people, free) };
}

function rightsIn({ people, rightsOf }: PeopleView, id: string): readonly Right[] {
  const message = people.message.get(id);
  return (message === undefined ? undefined : rightsOf(message)) ?? [];
}

/** Those of one sender, so that no text can speak for another one. */
function fitting({ message }: People, free: readonly string[]): string[] {
  const [first] = free.flatMap((id) => message.get(id) ?? []);
  const theirs = free.filter((id) => {
    const one = message.get(id);
    return one?.channel === first?.channel && one?.sender === first?.sender;
  });
  let left = MOST_CHARACTERS;
  return theirs.slice(0, MOST_MESSAGES).filter((id, index) => {
    left -= message.get(id)?.text.length ?? 0;
    return index === 0 || left >= 0;
  });
}

/** The verbs that a model may read out of a text of a sender with these rights. Any text may ask for nothing. */
export function verbsFor(rights: readonly Right[]): Verb[] {
  return VERBS.filter((verb) => verb === 'none' || mayUse(rights, verb));
}

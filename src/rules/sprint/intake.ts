import type { SprintRequest } from '../../model/sprint/request.ts';
import { backlogOf, requestStateOf, type Team } from '../../model/sprint/team.ts';
import { fingerprintOf, wordsOf } from './fingerprint.ts';

/** The most that a request, or a message, may have. */
export const MOST_TEXT_BYTES = 64 * 1024;
export const MOST_ATTACHMENTS = 20;

/** A text that someone asks for, with the names of its files. `key`: the sender's own id of it, as a hash. */
export interface Asked extends Pick<SprintRequest, 'text' | 'by' | 'key'> {
  readonly attachments: readonly unknown[];
}

/** How a text is taken. It never gives authority: all that a text can do is to ask, and to bring what an item waits for. */
export type Intake =
  | { readonly do: 'new' }
  /** It was sent before, under this key. */
  | { readonly do: 'known'; readonly request: string }
  /** An open request asks for it already. */
  | { readonly do: 'join'; readonly request: string }
  /** It brings what these blocked items wait for. `request`: the one that they came from; absent: they came from none. */
  | { readonly do: 'reopen'; readonly request?: string | undefined; readonly items: readonly string[] }
  | { readonly do: 'refuse'; readonly why: string; readonly next: string };

export function intake(team: Team, asked: Asked): Intake {
  return (
    refusal(asked) ??
    sentBefore(team, asked) ??
    reopening(team, asked.text) ??
    joining(team, asked.text) ?? { do: 'new' }
  );
}

function refusal({ text, attachments }: Asked): Intake | undefined {
  if (text.trim() === '') {
    return {
      do: 'refuse',
      why: 'the request has no text',
      next: 'Say what you want: `squad request "add a login form"`.',
    };
  }
  if (Buffer.byteLength(text) > MOST_TEXT_BYTES) {
    const next = 'Put the details into a file: `squad request "…" --attach FILE`.';
    return { do: 'refuse', why: 'the request is larger than 64 KiB', next };
  }
  if (attachments.length <= MOST_ATTACHMENTS) return undefined;
  const why = `the request has ${attachments.length} files, and one takes at most ${MOST_ATTACHMENTS}`;
  return { do: 'refuse', why, next: 'Attach fewer files, or one archive of them.' };
}

function sentBefore({ request }: Team, { key }: Asked): Intake | undefined {
  if (key === undefined) return undefined;
  for (const [id, one] of request) {
    if (one.key === key || one.joined.some((joined) => joined.key === key)) return { do: 'known', request: id };
  }
  return undefined;
}

/** An item that is named, then those of a request that is named, then what an item waits for, then those of an equal request. */
function reopening(team: Team, text: string): Intake | undefined {
  const blocked = backlogOf(team).filter(({ state }) => state === 'blocked');
  if (blocked.length === 0) return undefined;
  const ids = new Set(text.toLowerCase().split(/[^a-z0-9-]+/));
  const named = blocked.find(({ id }) => ids.has(id));
  if (named !== undefined) return reopen(team, [named.id]);
  const isBlocked = new Set(blocked.map(({ id }) => id));
  const ofRequest = (id: string): Intake | undefined => {
    const items = itemsOf(team, id).filter((item) => isBlocked.has(item));
    return items.length === 0 ? undefined : { do: 'reopen', request: id, items };
  };
  for (const id of team.request.keys()) if (ids.has(id)) return ofRequest(id) ?? { do: 'new' };
  const brings = blocked.find(({ required_inputs = [] }) => required_inputs.some((input) => answers(text, input)));
  if (brings !== undefined) return reopen(team, [brings.id]);
  for (const id of equalTo(team, text)) {
    const found = ofRequest(id);
    if (found !== undefined) return found;
  }
  return undefined;
}

function reopen(team: Team, items: readonly string[]): Intake {
  const request = [...team.request.keys()].find((id) => items.every((item) => itemsOf(team, id).includes(item)));
  return { do: 'reopen', request, items };
}

/** A cancelled request has none any more. */
function itemsOf({ request, requestPlan }: Team, id: string): readonly string[] {
  const one = request.get(id);
  if (one === undefined || one.cancelledAt !== undefined) return [];
  return requestPlan.get(id)?.items ?? (one.reopens === undefined ? [] : [one.reopens]);
}

/** Few words of an input may stand in any text, so they count only where a line begins with them. */
const FEW_WORDS = 3;
const SAYS = /^\s*(?:[:=]|(?:is|are)\s)/i;

/** Whether a text says what an input asks for: `port of the staging server: 8443` for `port of the staging server`. */
function answers(text: string, input: string): boolean {
  const words = wordsOf(input);
  if (words.length === 0) return false;
  if (words.length >= FEW_WORDS) return ` ${wordsOf(text).join(' ')} `.includes(` ${words.join(' ')} `);
  const asked = input.trim().toLowerCase();
  return text.split('\n').some((line) => {
    const said = line.trimStart().toLowerCase();
    return said.startsWith(asked) && SAYS.test(said.slice(asked.length));
  });
}

function joining(team: Team, text: string): Intake | undefined {
  const isOpen = (id: string): boolean =>
    ['received', 'planning', 'planned'].includes(requestStateOf(team, id, () => true));
  const request = equalTo(team, text).find(isOpen);
  return request === undefined ? undefined : { do: 'join', request };
}

/** The requests that ask for the same, the oldest first. */
function equalTo({ request }: Team, text: string): string[] {
  const print = fingerprintOf(text);
  return [...request].filter(([, { fingerprint }]) => fingerprint === print).map(([id]) => id);
}

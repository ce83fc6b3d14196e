import { InvalidArgumentError } from 'commander';
import { LOCALES } from '../../model/locale.ts';
import { parseMoment, type Moment } from '../../text/duration.ts';
import type { Flag, Given } from '../../text/flags.ts';
import { parseJson } from '../../text/json.ts';
import { JSON_LINES } from '../flags.ts';
import { duration, wholeNumber } from '../option-values.ts';

const WAITS = ['delivered', 'accepted', 'done'] as const;
export type WaitFor = (typeof WAITS)[number];

/** Which mailbox, and how it is shown. */
export const MAIL_FLAGS = [
  ['--run <run>', 'a run, by name or id (default: the one that an engine drives, or the newest)'],
  ['--locale <locale>', 'language of messages (default: as in squad.yaml)', LOCALES],
  JSON_LINES,
] as const;

/** Who speaks or reads, unless a token says it. */
const PARTY_FLAGS = [
  ...MAIL_FLAGS,
  ['--as <member>', 'the member that you speak or read as (default: MAIN, if a person is MAIN)'],
] as const;

/** Flags of every command that sends. Those of the fields of its messages have the names of `SendFlag.key`. */
export const SEND_FLAGS = [
  ...PARTY_FLAGS,
  ['--to <list>', 'the recipients: addresses, A,B (default: the sender of the ask, or MAIN)', list],
  ['--task <id>', 'the task that it is about'],
  ['--owner <address>', 'the owner of the task'],
  ['--corr <id>', 'the message that it answers, by id or number (#12)'],
  ['--body <json>', 'more fields of the body, as a JSON object'],
  ['--body-file <path>', 'the same, from a file'],
  ['--ttl <time>', 'how long it may take to arrive: 60s, 30m, 2h', duration],
  ['--key <text>', 'your own name for it: a repeat with this key sends no second message'],
  ['--wait <for>', 'wait until every recipient has it, has read it, or has answered', WAITS],
  ['--timeout <time>', 'with --wait: wait at most this long (exit 4): 60s, 30m, 2h', duration],
] as const;

const READ_FLAGS = [
  ...PARTY_FLAGS,
  ['--peek', 'only look'],
  ['--take', 'read an agent’s mail in its place (default: only look at it)'],
] as const;
export const INBOX_FLAGS = [...READ_FLAGS, ['--limit <n>', 'print at most this many', wholeNumber]] as const;
/** With flags of the protocol that squad declines. */
export const LISTEN_FLAGS = [...READ_FLAGS, ['--auto-input'], ['--auto-reply'], ['--prompt-path <path>']] as const;
export const TRACE_FLAGS = [
  ...MAIL_FLAGS,
  ['--task <id>', 'only messages about this task'],
  ['--corr <id>', 'only this message and its answers, by id or number (#12)'],
  ['--after <n>', 'only messages with a higher number', wholeNumber],
  ['--export <folder>', 'write everything as the protocol’s logs, into a new or empty folder'],
] as const;

export type MailOptions = Given<typeof MAIL_FLAGS>;
export type PartyOptions = Given<typeof PARTY_FLAGS>;
export type InboxOptions = Given<typeof INBOX_FLAGS> & Given<typeof LISTEN_FLAGS>;
export type TraceOptions = Given<typeof TRACE_FLAGS>;
export interface SendOptions extends Given<typeof SEND_FLAGS> {
  readonly bodyEncoding?: 'json' | 'base64';
  readonly deadline?: Moment;
  readonly reviewDeadline?: Moment;
  readonly action?: string;
  readonly [flag: string]: unknown;
}

/** A flag for a field of a message, by the type of its value. */
export const FIELD_FLAGS = {
  text: (name, about) => [`--${name} <text>`, about],
  list: (name, about) => [`--${name} <list>`, about, list],
  number: (name, about) => [`--${name} <n>`, about, wholeNumber],
  boolean: (name, about) => [`--${name}`, about],
  json: (name, about) => [`--${name} <json>`, about, jsonList],
  moment: (name, about) => [`--${name} <when>`, about, when],
} as const satisfies Readonly<Record<string, (name: string, about: string) => Flag>>;

/** `a,b`, also from a repeated flag; `\,` is a comma within an entry. */
function list(value: string, before: unknown): readonly string[] {
  const parts = value.split(/(?<!\\),/).map((part) => part.replaceAll('\\,', ',').trim());
  return [...(Array.isArray(before) ? (before as string[]) : []), ...parts.filter((part) => part !== '')];
}

function when(text: string): Moment {
  const moment = parseMoment(text);
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError(`${text} is not a time; for example 3600, 90s, 30m, 2h or 2026-12-24T17:00+01:00`);
}

function jsonList(text: string): readonly unknown[] {
  const value = parseJson(text);
  if (Array.isArray(value)) return value;
  throw new InvalidArgumentError('It must be a JSON array; docs/protocol.md lists the fields of an entry.');
}

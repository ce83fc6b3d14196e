import { quoteBlock } from '../../text/fence.ts';
import { plainText, shortText } from '../../text/plain-text.ts';

/** Characters of all inputs of a round together. */
const MOST_ALL = 60_000;
const MOST_ONE = 6_000;
const MOST_TITLE = 160;

export interface FailedCheck {
  readonly name: string;
  readonly commit: string;
  readonly wasRepeated: boolean;
  readonly log: string;
}
export interface GivenComment {
  readonly by: string;
  readonly body: string;
  readonly path?: string | undefined;
  readonly line?: number | undefined;
}

/** For the agent, one text each: its first line says what it is, and below it what others wrote is quoted. */
export function problemsOf(checks: readonly FailedCheck[], comments: readonly GivenComment[]): string[] {
  const most = Math.min(MOST_ONE, Math.floor(MOST_ALL / Math.max(checks.length + comments.length, 1)));
  return [
    ...checks.map(({ name, commit, wasRepeated, log }) => {
      const how = `failed${wasRepeated ? ' twice' : ''} at ${commit.slice(0, 12)}`;
      return `The check “${title(name)}” ${how}.\n${quoted(logEnd(log), most) || '> (the forge has no log of it)'}`;
    }),
    ...comments.map(({ by, body, path, line }) => {
      const where = path === undefined ? '' : ` on ${title(path)}${line === undefined ? '' : `:${line}`}`;
      return `A comment of ${title(by)}${where}: “${title(body)}”\n${quoted(body, most)}`;
    }),
  ];
}

function title(text: string): string {
  return shortText(text, MOST_TITLE).replaceAll(/\s+/g, ' ').trim();
}

function quoted(text: string, most: number): string {
  const kept = text.length <= most ? text : `${text.slice(0, most)}\n[cut]`;
  const lines = plainText(kept.toWellFormed()).trim().split('\n');
  return lines.join('') === '' ? '' : lines.map((line) => `> ${line}`.trimEnd()).join('\n');
}

const STAMP = /^\d{4}-\d\d-\d\dT[\d:.]+Z /gm;
const ERROR = '##[error]';
const MOST_LINES = 120;

/** The part of a log that says why it failed: its lines up to the last error, or its last ones. */
export function logEnd(log: string): string {
  const lines = log.replaceAll('\r\n', '\n').replaceAll(STAMP, '').trimEnd().split('\n');
  const last = lines.findLastIndex((line) => line.includes(ERROR));
  const end = last < 0 ? lines.length : last + 1;
  const kept = lines.slice(Math.max(end - MOST_LINES, 0), end);
  while (kept.join('\n').length > MOST_ONE - 500 && kept.length > 1) kept.shift();
  return kept.join('\n');
}

/** The answer to a comment. `about`: its beginning, where the answer does not stand below it. */
export function answerText(commit: string | null, about: string | undefined): string {
  const said = commit === null ? 'looked at it, and changed nothing.' : `done in ${commit}.`;
  return about === undefined ? `squad: ${said}` : `${quoteBlock(shortText(about, 200))}\n\nsquad: ${said}`;
}

/** Why a person is needed, or what was the end. */
export function needsPersonText(why: string): string {
  return `squad needs a person for this pull request: ${why}. squad follows it again once a person has put that right.`;
}

export function overText(why: string): string {
  return `squad does not follow this pull request any more: ${why}.`;
}

import type { JsonPath } from '../../text/json-source.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';

export const STATE_FILE = 'team-session.json';
export const ANALYSIS_FILE = 'task-analysis.json';
export const MEMORY_FILE = 'shared-memory.json';
export const INDEX_FILE = 'explorations/cache-index.json';

/** The file that describes this role. */
export function rolePath(name: string): string {
  return `roles/${name}.md`;
}

/** The other way round. undefined: it is no file of a role. */
export function roleAt(path: string): string | undefined {
  return /^roles\/([^/]+)\.md$/.exec(path)?.[1];
}

/** The remedy: the specification's, or `correct` where it names none. */
type Advice = 'make' | 'make-state' | 'resume' | 'look' | 'correct';

/** One thing that is wrong with a session. */
export interface Finding {
  /** Path below the folder; empty: the folder itself. */
  readonly file: string;
  /** A line, or the path of a value in a JSON file. */
  readonly at: number | JsonPath;
  /** In the words of the specification, or in their form. */
  readonly message: string;
  /** More about the problem, such as its cause. */
  readonly detail?: string;
  readonly advice: Advice;
}

/** Makes findings about one of the two files. */
export function sayOf(file: string): (message: string, at: JsonPath) => Finding {
  return (message, at) => ({ file, at, message: `${file} ${message}`, advice: 'correct' });
}

/** A text of the session in a message: one line, and not too long. */
export function shown(text: string): string {
  return plainLine(text.slice(0, 400));
}

/** A path that the person wrote: whole, as a command needs it. */
export function shownPath(path: string): string {
  return plainText(path).replaceAll(/[\t\n]/g, ' ');
}

/** A text that says something. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** The texts that stood in the list before, with where they stand again. */
export function doublesIn(texts: readonly unknown[]): { readonly text: string; readonly index: number }[] {
  const seen = new Set<unknown>();
  return texts.flatMap((text, index) => {
    if (typeof text !== 'string') return [];
    if (seen.has(text)) return [{ text, index }];
    seen.add(text);
    return [];
  });
}

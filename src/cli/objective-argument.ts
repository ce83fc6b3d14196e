import { usageError } from '../model/errors.ts';
import { defined } from '../text/defined.ts';
import { nearest } from '../text/nearest.ts';
import { plainLine } from '../text/plain-text.ts';

/** What the argument of `squad run` and `squad team` is. */
export type ObjectiveArgument =
  /** `meant`: it does not exist, and this file nearly has its name. */
  | { readonly type: 'file'; readonly meant?: string }
  | { readonly type: 'stdin' }
  /** `repository`: `host/owner/name`; absent: that of the remote. */
  | { readonly type: 'issue'; readonly number: number; readonly repository?: string }
  | { readonly type: 'text' };

const URL_LIKE = /^https?:\/\//i;
const ISSUE_URL =
  /^https?:\/\/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/[A-Za-z0-9_][A-Za-z0-9_.-]*\/[A-Za-z0-9_.-]+)\/issues\/(\d{1,9})\/?(?:[?#]\S*)?$/i;
const TEXT_FILE = /\.(?:md|markdown|txt)$/i;

/**
 * In this order: `-` is standard input, a path that exists is a file, `#12` and the URL of an issue are that issue, what only a
 * path looks like is a missing file, and anything else is text. `isThere`: whether the path exists. `files`: names of the Markdown
 * files next to it, for a suggestion. Throws `usage` for a URL of something else.
 */
export function decideArgument(
  given: string,
  { isThere, files }: { readonly isThere: boolean; readonly files: readonly string[] },
): ObjectiveArgument {
  if (given === '-') return { type: 'stdin' };
  if (given.trim() === '') return { type: 'text' };
  if (isThere) return { type: 'file' };
  const number = /^#(\d{1,9})$/.exec(given.trim())?.[1];
  if (number !== undefined) return { type: 'issue', number: Number(number) };
  if (URL_LIKE.test(given) && !/\s/.test(given.trim())) return issueAt(given.trim());
  if (!looksLikePath(given, files)) return { type: 'text' };
  const meant = nearest(given.split('/').at(-1) ?? '', files);
  return defined({ type: 'file', meant: meant && given.slice(0, given.lastIndexOf('/') + 1) + meant });
}

function issueAt(url: string): ObjectiveArgument {
  const [, repository, number] = ISSUE_URL.exec(url) ?? [];
  if (repository !== undefined) return { type: 'issue', number: Number(number), repository };
  throw usageError(
    `${plainLine(url)} is not the URL of an issue`,
    'Give one like https://github.com/owner/name/issues/12, or the text itself: `squad run - < file`.',
  );
}

/** Sentences have spaces. One word is a path if it has a slash or the ending of a text file, or nearly names such a file. */
function looksLikePath(given: string, files: readonly string[]): boolean {
  if (/\s/.test(given)) return /^(?:\.{0,2}|~)\//.test(given) && TEXT_FILE.test(given);
  // Not every language separates words by spaces.
  return /^[!-~]*\/[!-~]*$/.test(given) || TEXT_FILE.test(given) || nearest(given, files) !== undefined;
}

import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isatty } from 'node:tty';
import { badInput, usageError } from '../model/errors.ts';
import { readIssueText } from '../squad/preflight/issue.ts';
import { MOST_BYTES, textOf, type WrittenObjective } from '../squad/preflight/read-input.ts';
import { readSettings } from '../squad/preflight/read-settings.ts';
import { openWorkspace } from '../squad/open-workspace.ts';
import { plainLine } from '../text/plain-text.ts';
import type { CommandContext } from './command-context.ts';
import { defined } from '../text/defined.ts';
import { nearest } from '../text/nearest.ts';

const STDIN = 'standard input';
/** Where nothing else says which remote the work goes to. */
const REMOTE = 'origin';

/** The objective that the argument of `squad run` or `squad team` stands for. Throws one error for what it cannot be. */
export async function readArgument(context: CommandContext, given: string): Promise<WrittenObjective> {
  const path = resolve(context.host.workingDirectory, given);
  const argument = decideArgument(given, { isThere: existsSync(path), files: textFilesBeside(path) });
  switch (argument.type) {
    case 'file':
      if (argument.meant === undefined) return given;
      throw badInput(
        `there is no file ${plainLine(given)}; did you mean ${plainLine(argument.meant)}?`,
        'Name the file, or say in a sentence what you want: `squad run "add a login form"`.',
      );
    case 'text':
      return { text: given };
    case 'stdin':
      return { text: await readStdin(context), from: STDIN };
    case 'issue':
      return readIssue(context, argument);
  }
}

function textFilesBeside(path: string): readonly string[] {
  try {
    return readdirSync(dirname(path)).filter((name) => /\.(?:md|markdown|txt)$/i.test(name));
  } catch {
    // No such folder, or the text is too long for a path: there is nothing to suggest.
    return [];
  }
}

/** A terminal is opened anew: `process.stdin` could ask no question after its end, and what Node opened does not wait for input. */
async function readStdin({ output }: CommandContext): Promise<string> {
  const isTerminal = isatty(0);
  if (isTerminal) output.problem('Write the objective, then press Ctrl-D on a line of its own.');
  const stream = isTerminal ? createReadStream('/dev/stdin') : process.stdin;
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream) {
    const bytes = Buffer.from(part as Uint8Array);
    size += bytes.length;
    if (size > MOST_BYTES) {
      throw badInput(`${STDIN} is larger than 1 MiB`, 'Put the details into files of the repository and name them.');
    }
    parts.push(bytes);
  }
  return textOf(Buffer.concat(parts), STDIN);
}

async function readIssue(
  context: CommandContext,
  { type: _type, ...name }: Extract<ObjectiveArgument, { type: 'issue' }>,
): Promise<WrittenObjective> {
  const { repository, composition } = await openWorkspace(context);
  const { settings } = await readSettings(repository.root, composition, context.host);
  const remote = settings.publish?.remote ?? REMOTE;
  return readIssueText(composition.forge(repository), { ...name, remote });
}

/** The argument of `squad run` and `squad team`. */
type ObjectiveArgument =
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
 * An existing path (`isThere`) is a file, and a text that only looks like a path is a missing file. `files`: names of the Markdown
 * files beside it, for a suggestion. Throws `usage` for a URL that is not of an issue.
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

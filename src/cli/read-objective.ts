import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isatty } from 'node:tty';
import { badInput, usageError } from '../model/errors.ts';
import type { WrittenObjective } from '../squad/preflight/read-input.ts';
import { issueIn } from '../text/issue-url.ts';
import { plainLine } from '../text/plain-text.ts';
import type { CommandContext } from './command-context.ts';
import { nearest } from '../text/nearest.ts';

const STDIN = 'standard input';
/** Where nothing else says which remote the work goes to. */
const REMOTE = 'origin';

/** A kind of argument besides words. */
interface Kind<Found extends object = object> {
  /** For the help. */
  readonly about: string;
  /** Returns undefined if the argument is something else. Throws `usage`. */
  readonly finds: (given: string, around: Around) => Found | undefined;
  read(context: CommandContext, given: string, found: Found): Promise<WrittenObjective>;
}

interface Around {
  /** It is a path of something. */
  readonly isThere: boolean;
  /** Names of the text files beside that path, for a suggestion. */
  readonly files: readonly string[];
}

const kind = <Found extends object>(one: Kind<Found>): Kind => one;

/** The first that finds itself counts. */
const KINDS: Readonly<Record<string, Kind>> = {
  file: kind({
    about: 'a Markdown file',
    finds: (given, { isThere }) => (isThere && given !== '-' && given.trim() !== '' ? {} : undefined),
    read: async (_context, given) => given,
  }),
  stdin: kind({
    about: '`-` for standard input',
    finds: (given) => (given === '-' ? {} : undefined),
    read: async (context) => ({ text: await readStdin(context), from: STDIN }),
  }),
  issue: kind<IssueArgument>({
    about: '`#12` or an issue’s URL (read through gh or glab)',
    finds: (given) => issueNamed(given.trim()),
    read: async (context, _given, issue) => readIssue(context, issue),
  }),
};

/** Help for the argument of `squad run`. */
export const OBJECTIVE = `what to do, in words; or ${Object.values(KINDS)
  .map(({ about }) => about)
  .join(', ')}`;

/** The objective that the argument of `squad run` or `squad team` stands for. Throws one error for what it cannot be. */
export async function readArgument(context: CommandContext, given: string): Promise<WrittenObjective> {
  const path = resolve(context.host.workingDirectory, given);
  const { type, ...found } = decideArgument(given, { isThere: existsSync(path), files: textFilesBeside(path) });
  return KINDS[type]?.read(context, given, found) ?? { text: given };
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
  const { MOST_BYTES, textOf } = await import('../squad/preflight/read-input.ts');
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

/** `repository`: `host/owner/name`; absent: that of the remote. */
interface IssueArgument {
  readonly number: number;
  readonly repository?: string;
}

async function readIssue(context: CommandContext, issue: IssueArgument): Promise<WrittenObjective> {
  const { openWorkspace } = await import('../squad/open-workspace.ts');
  const { readSettings } = await import('../squad/preflight/read-settings.ts');
  const { readIssueText } = await import('../squad/preflight/issue.ts');
  const { repository, composition } = await openWorkspace(context);
  const { settings } = await readSettings(repository.root, composition, context.host);
  const remote = settings.publish?.remote ?? REMOTE;
  return readIssueText(composition.forge(repository), { ...issue, remote });
}

const URL_LIKE = /^https?:\/\/\S*$/i;
const TEXT_FILE = /\.(?:md|markdown|txt)$/i;

/** Its kind and what it says of that; `text`: words. Throws for a URL that is not of an issue, and for a path without a file. */
export function decideArgument(given: string, around: Around): { readonly type: string } {
  for (const [type, { finds }] of Object.entries(KINDS)) {
    const found = finds(given, around);
    if (found !== undefined) return { type, ...found };
  }
  if (given.trim() === '' || !looksLikePath(given, around.files)) return { type: 'text' };
  const meant = nearest(given.split('/').at(-1) ?? '', around.files);
  if (meant === undefined) return { type: 'file' };
  throw badInput(
    `there is no file ${plainLine(given)}; did you mean ${plainLine(given.slice(0, given.lastIndexOf('/') + 1) + meant)}?`,
    'Name the file, or say in a sentence what you want: `squad run "add a login form"`.',
  );
}

function issueNamed(given: string): IssueArgument | undefined {
  const own = /^#(\d{1,9})$/.exec(given)?.[1];
  if (own !== undefined) return { number: Number(own) };
  if (!URL_LIKE.test(given)) return undefined;
  const issue = issueIn(given);
  if (issue !== undefined) return { number: issue.number, repository: `${issue.host}/${issue.path}` };
  throw usageError(
    `${plainLine(given)} is not the URL of an issue`,
    'Give one like https://github.com/owner/name/issues/12, or the text itself: `squad run - < file`.',
  );
}

/** Sentences have spaces. One word is a path if it has a slash or the ending of a text file, or nearly names such a file. */
function looksLikePath(given: string, files: readonly string[]): boolean {
  if (/\s/.test(given)) return /^(?:\.{0,2}|~)\//.test(given) && TEXT_FILE.test(given);
  // Not every language separates words by spaces.
  return /^[!-~]*\/[!-~]*$/.test(given) || TEXT_FILE.test(given) || nearest(given, files) !== undefined;
}

import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorText, SquadError } from '../../model/errors.ts';
import { errorCode } from '../../model/storage-error.ts';
import type { Objective } from '../../model/objective.ts';
import { TYPED_OBJECTIVE } from '../../model/typed-objective.ts';
import { defined } from '../../text/defined.ts';
import { problemText, type Problem } from '../../text/problem.ts';
import { parseObjective } from '../objective/parse-objective.ts';
import { titleOfText, WHOLE } from '../objective/parts.ts';
import { openConfined } from '../../substrate/system/files/open-confined.ts';

export const SETTINGS_FILE = 'squad.yaml';

/** More than any parser accepts, so that each parser reports its own limit. */
export const MOST_BYTES = 1024 * 1024;
const MOST_INSTRUCTIONS = 64 * 1024;

const NO_FILE = ['ENOENT', 'ENOTDIR'];

/**
 * The objective: a path, absolute or from the squad's `cwd`, or its text, which is Markdown with the sections of an objective or
 * plain words. `from`: where the text comes from, for people.
 */
export type WrittenObjective =
  | string
  | {
      readonly text: string;
      readonly from?: string | undefined;
      /** Nothing in the text is a section or a setting. */
      readonly isPlain?: boolean | undefined;
    };

/** Reads the objective. Only a given text may do without sections. */
export async function readObjective(source: WrittenObjective, workingDirectory: string): Promise<Objective> {
  const isPath = typeof source === 'string';
  const path = isPath ? source : (source.from ?? TYPED_OBJECTIVE);
  if (!isPath && source.isPlain === true) return plainObjective(source.text, path);
  const read: TextRead = isPath
    ? await readText(resolve(workingDirectory, source), source)
    : { type: 'text', text: source.text };
  if (read.type === 'absent') {
    throw problemError(
      [{ file: path, line: 1, message: 'file not found', example: WHOLE }],
      'Run `squad init` to write an example objective, name your own, or say in a sentence what you want.',
    );
  }
  const parsed = parseObjective(orThrow(read, path), path, !isPath);
  if (!parsed.ok) throw problemError(parsed.problems);
  return parsed.objective;
}

/** The words as they are: nothing in them is a section, a command or a setting of the run. */
export function plainObjective(text: string, file: string, title = ''): Objective {
  return {
    ...{ file, title: titleOfText(text.split('\n')) || title },
    ...{ goals: [text], criteria: [], constraints: [], context: '', frontMatter: {}, text },
  };
}

/** The parts of an objective about how the run is done and when it is complete, not about its work. */
export function settingsOfRun({ criteria, frontMatter, priority, deadline }: Objective) {
  return { criteria, frontMatter, ...defined({ priority, deadline }) };
}

/** Reads a file that `agents[].instructions` names. A long file is refused, not cut: half of it could say the opposite. */
export async function readInstructions(root: string, path: string, at: Pick<Problem, 'file' | 'line'>) {
  const refuse = (why: string): SquadError =>
    problemError([{ ...at, message: `instructions: ${path} ${why}` }], `Correct ${path}, or name another file.`);
  const read = await readConfined(root, path);
  if (read.type === 'absent') throw refuse('does not exist');
  if (read.type === 'refused') throw refuse(read.why);
  if (Buffer.byteLength(read.text) > MOST_INSTRUCTIONS) throw refuse('is larger than 64 KiB');
  return read.text;
}

export type TextRead =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'absent' }
  | { readonly type: 'refused'; readonly why: string; readonly line?: number };

type Found = Exclude<TextRead, { type: 'absent' }>;

export function orThrow(read: Found, file: string): string {
  if (read.type === 'text') return read.text;
  throw problemError([{ file, line: read.line ?? 1, message: read.why }]);
}

/** Reads a file of the repository. Refuses a link that leaves it, so that settings cannot expose other files of the machine. */
export async function readConfined(root: string, path: string): Promise<TextRead> {
  try {
    const opened = await openConfined(root, path);
    return opened.type === 'opened' ? await readOpen(opened.file, path) : opened;
  } catch (error) {
    return refusalOf(error);
  }
}

/** Reads a file that the person named, anywhere on the machine. */
export async function readText(path: string, name: string): Promise<TextRead> {
  try {
    // Non-blocking, because a pipe would block squad for ever.
    return await readOpen(await open(path, constants.O_RDONLY | constants.O_NONBLOCK), name);
  } catch (error) {
    return refusalOf(error);
  }
}

/** Closes the file. `name`: as people know it. */
export async function readOpen(file: FileHandle, name: string): Promise<TextRead> {
  try {
    const found = await file.stat();
    if (found.isDirectory())
      return { type: 'refused', why: `is a folder; name a file in it, such as ${join(name, 'objective.md')}` };
    if (!found.isFile()) return { type: 'refused', why: 'is not a regular file' };
    if (found.size > MOST_BYTES) return { type: 'refused', why: 'is larger than 1 MiB' };
    return decode(await file.readFile());
  } finally {
    await file.close();
  }
}

/** The text in these bytes, which came from `name`. Throws `bad-input` for what is no UTF-8. */
export function textOf(bytes: Buffer, name: string): string {
  return orThrow(decode(bytes), name);
}

function decode(bytes: Buffer): Found {
  if (isUtf8(bytes)) return { type: 'text', text: bytes.toString('utf8') };
  let line = 1;
  for (let start = 0; start < bytes.length; line += 1) {
    const end = bytes.indexOf(0x0a, start);
    const stop = end < 0 ? bytes.length : end;
    if (!isUtf8(bytes.subarray(start, stop))) break;
    start = stop + 1;
  }
  return { type: 'refused', why: 'is not UTF-8 text; save it as UTF-8', line };
}

export function refusalOf(error: unknown): TextRead {
  return NO_FILE.includes(errorCode(error) ?? '')
    ? { type: 'absent' }
    : { type: 'refused', why: `cannot be read: ${errorText(error)}` };
}

/** The one error that ends a command because of problems in a person's files. */
export function problemError(problems: readonly Problem[], next?: string): SquadError {
  const file = problems[0]?.file ?? 'the file';
  return new SquadError({
    code: 'bad-input',
    message: `${file} cannot be used:\n${problems.map(problemText).join('\n')}`,
    next: next ?? `Correct ${file}, then run the command again.`,
  });
}

/** The line of a top-level key; 1 if the file writes it in another way. */
export function lineOf(text: string, key: string): number {
  const index = text.split('\n').findIndex((line) => {
    const named = line.slice(0, Math.max(0, line.indexOf(':'))).trimEnd();
    return named.replace(/^(["'])(.*)\1$/, '$2') === key;
  });
  return index < 0 ? 1 : index + 1;
}

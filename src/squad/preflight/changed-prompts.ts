import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redactor } from '../../model/redaction/redactor.ts';
import { errorText } from '../../model/errors.ts';
import { sha256Of } from '../../model/sha256.ts';
import { errorCode } from '../../model/storage-error.ts';
import { noSuch } from '../../model/unknown-name.ts';
import { bodyProblems, isPromptName, ownBytes, PROMPT_NAMES, readChange } from '../../prompts/read-change.ts';
import type { PromptFile } from '../../prompts/read-prompt.ts';
import type { ChangedPrompts, PromptName } from '../../prompts/render.ts';
import { PROMPTS } from '../../prompts/shipped.ts';
import { counted } from '../../text/counted.ts';
import type { Problem } from '../../text/problem.ts';
import { problemError, readConfined } from './read-input.ts';
import { secretWarnings, type SecretWarning } from './secrets.ts';

/** Where a repository has prompts of its own, as `<role>/<occasion>.md`. */
export const PROMPTS_FOLDER = 'squad/prompts';

const MOST_TEXT = 64 * 1024;
const MOST_ENTRIES = 500;
const MOST_PROBLEMS = 50;

/** A file in that folder, and what it says or all that is wrong with it. */
export interface FoundPrompt {
  readonly name: string;
  readonly file: string;
  readonly read:
    | { readonly ok: true; readonly value: PromptFile }
    | { readonly ok: false; readonly problems: Problem[] };
}

/** A note for people about prompts that are not squad's. */
export interface PromptNote {
  readonly about: 'prompts';
  readonly text: string;
  readonly next?: string | undefined;
}

interface PromptsOfRun {
  /** As the run keeps them. */
  readonly frozen: { readonly prompts?: ChangedPrompts; readonly promptHash: string };
  readonly notes: readonly (PromptNote | SecretWarning)[];
}

/**
 * The prompts of a run: those of the repository in place of squad's, and `given` in place of both. Throws `bad-input` for one that
 * cannot be used.
 */
export async function promptsOfRun(
  root: string,
  redactor: Redactor,
  given: ChangedPrompts = {},
): Promise<PromptsOfRun> {
  const found = await findPrompts(root);
  const problems = [...found.flatMap(({ read }) => (read.ok ? [] : read.problems)), ...problemsOf(given)];
  if (problems.length > 0) {
    const next = `Correct ${problems[0]?.file ?? ''}, or remove it to use squad’s own; \`squad prompts\` lists them.`;
    throw problemError(problems.slice(0, MOST_PROBLEMS), next);
  }
  const files = found.flatMap(({ name, file, read }) => (read.ok ? [{ name, file, ...read.value }] : []));
  const bodies = { ...Object.fromEntries(files.map(({ name, body }) => [name, body])), ...given };
  const changed = Object.entries(bodies).filter(([name, body]) => isPromptName(name) && body !== PROMPTS[name].body);
  const prompts = Object.fromEntries(changed.map(([name, body]) => [name, redactor.text(body)]));
  const redacted = changed.flatMap(([name, body]) => (prompts[name] === body ? [] : [`the prompt ${name}`]));
  return {
    frozen: { ...(changed.length === 0 ? {} : { prompts }), promptHash: hashOfPrompts(prompts) },
    notes: [...noteOf(Object.keys(prompts)), ...files.flatMap(notesAbout), ...secretWarnings(redacted)],
  };
}

function noteOf(names: readonly string[]): PromptNote[] {
  if (names.length === 0) return [];
  const what = `${counted(names.length, 'prompt')} of squad ${names.length === 1 ? 'is' : 'are'} changed`;
  return [{ about: 'prompts', text: `${what}: ${names.join(', ')}`, next: 'See `squad prompts diff`.' }];
}

function notesAbout({ name, file, body, budget, from }: PromptFile & { name: string; file: string }): PromptNote[] {
  const bytes = ownBytes(body);
  const over = `${file} has ${bytes} bytes without its facts, and its budget is ${budget}`;
  const stale = `squad’s own text of ${name} has changed since ${file} was written`;
  return [
    ...(bytes > budget ? [{ about: 'prompts', text: over } as const] : []),
    ...(isPromptName(name) && from !== undefined && from !== hashOfPrompt(name)
      ? [{ about: 'prompts', text: stale, next: `See \`squad prompts diff ${name}\`.` } as const]
      : []),
  ];
}

function problemsOf(given: ChangedPrompts): Problem[] {
  const file = 'the option prompts';
  return Object.entries(given).flatMap(([name, body]): Problem[] =>
    isPromptName(name)
      ? bodyProblems(name, body, `${file}, ${name}`)
      : [{ file, line: 1, message: noSuchPrompt(name) }],
  );
}

/** `there is no prompt of builder rule; did you mean role?`, or of a role that squad does not have. */
export function noSuchPrompt(name: string): string {
  const [role = '', occasion = ''] = name.split('/');
  const known = PROMPT_NAMES.filter((one) => one.startsWith(`${role}/`)).map((one) => one.slice(role.length + 1));
  return known.length === 0 ? noSuch('prompt', name, PROMPT_NAMES) : noSuch(`prompt of ${role}`, occasion, known);
}

/** Twelve digits that stand for squad's own body of a prompt. */
export function hashOfPrompt(name: PromptName): string {
  return shortHash(PROMPTS[name].body);
}

/** Twelve digits that stand for all prompts of a run. */
export function hashOfPrompts(changed: ChangedPrompts): string {
  return shortHash(JSON.stringify(PROMPT_NAMES.map((name) => [name, changed[name] ?? PROMPTS[name].body])));
}

function shortHash(text: string): string {
  return sha256Of(text).slice(0, 12);
}

/**
 * The files `<role>/<occasion>.md` of a folder below `root`, by name: `squad/prompts` of a repository. It reads none that lies outside,
 * or that is no file.
 */
export async function findPrompts(root: string, folder = PROMPTS_FOLDER): Promise<FoundPrompt[]> {
  const { files, problems } = await listFiles(root, folder);
  const found = await Promise.all(files.map(async (file) => readFileAt(root, folder, file)));
  return [...problems.map((one) => refused('', one)), ...found];
}

async function readFileAt(root: string, folder: string, file: string): Promise<FoundPrompt> {
  const name = file.slice(folder.length + 1).replace(/\.md$/, '');
  const refuse = (message: string, line = 1): FoundPrompt => refused(name, { file, line, message });
  if (!isPromptName(name)) return refuse(noSuchPrompt(name));
  const read = await readConfined(root, file);
  if (read.type === 'absent') return refuse('is a link to nothing');
  if (read.type === 'refused') return refuse(read.why, read.line);
  if (Buffer.byteLength(read.text) > MOST_TEXT) return refuse('is larger than 64 KiB');
  return { name, file, read: readChange(name, read.text, file) };
}

function refused(name: string, problem: Problem): FoundPrompt {
  return { name, file: problem.file, read: { ok: false, problems: [problem] } };
}

async function listFiles(root: string, from: string): Promise<{ files: string[]; problems: Problem[] }> {
  const problem = (file: string, message: string) => ({ files: [], problems: [{ file, line: 1, message }] });
  try {
    const top = join(root, from);
    const isThere = await lstat(top).catch(() => undefined);
    if (isThere === undefined) return { files: [], problems: [] };
    // A link would take squad to names of another place.
    if ((await realpath(top)) !== join(await realpath(root), from)) {
      return problem(from, 'is a link, or below one; make it a folder');
    }
    const folders = await readdir(top, { withFileTypes: true });
    const links = folders.filter((one) => one.isSymbolicLink()).map(({ name }) => `${from}/${name}`);
    const inside = await Promise.all(
      folders
        .filter((one) => one.isDirectory())
        .slice(0, MOST_ENTRIES)
        .map(async ({ name }) => (await readdir(join(top, name))).map((file) => `${from}/${name}/${file}`)),
    );
    const files = inside.flat().filter((file) => file.endsWith('.md'));
    if (folders.length > MOST_ENTRIES || files.length > MOST_ENTRIES) {
      return problem(from, `has more than ${MOST_ENTRIES} entries`);
    }
    const refusals = links.map((file) => ({ file, line: 1, message: 'is a link; make it a folder' }));
    return { files: files.toSorted(), problems: refusals };
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return { files: [], problems: [] };
    return problem(from, `cannot be read: ${errorText(error)}`);
  }
}

import { createHash } from 'node:crypto';
import { closeSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../text/json.ts';
import { textOfPath, type PlainFolder } from '../system/files/plain-folder.ts';
import { readPlain } from '../system/files/read-plain.ts';
import { notePath, type GitContext, type RunRepository } from './git-context.ts';
import type { IgnoreRules } from './ignore-rules.ts';
import { UnreadableFolder } from './unreadable-folder.ts';

const noteSchema = z.array(z.object({ path: z.string(), bytes: z.int(), object: z.string().optional() }));

/** A file that folders of the run get and that no work of it may have. */
export interface KnownCopy {
  /** With one character for each byte. */
  readonly path: string;
  readonly bytes: number;
  /** Its content as git would name it. Absent: the repository has it already, or it is too short to tell anything. */
  readonly object?: string | undefined;
}

/** Shorter contents occur in any repository. */
export const LEAST_BYTES = 16;
const NAME = 'copied';

export function objectOf(hash: 'sha1' | 'sha256', content: Uint8Array): string {
  return createHash(hash).update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** The note is beside the run's repository, and beside each view of a folder. */
export function copiesNote(gitDirectory: string): string {
  return join(dirname(gitDirectory), NAME);
}

export async function copiesOfRun(gitDirectory: string | undefined): Promise<readonly KnownCopy[]> {
  if (gitDirectory === undefined) return [];
  const text = await readPlain(copiesNote(gitDirectory)).catch(() => '');
  return noteSchema.safeParse(parseJson(text)).data ?? [];
}

/** Whether a path is one of these files. */
export async function copiedPaths(context: GitContext, run: string): Promise<ReadonlySet<string>> {
  const known = await copiesOfRun(notePath(context, run, 'run.git'));
  return new Set(known.map(({ path }) => path));
}

/** They count as ignored, whatever an agent made of the rules. */
export function withoutCopies(rules: IgnoreRules, copies: readonly KnownCopy[]): IgnoreRules {
  const paths = new Set(copies.map(({ path }) => path));
  const isBelow = (path: string): boolean => [...paths].some((one) => path.startsWith(`${one}/`));
  return {
    ask: async (asked) => {
      const said = await rules.ask(asked);
      return asked.map(({ path }, index) => (paths.has(path) || isBelow(path) ? COPIED : said[index]));
    },
    close: async () => rules.close(),
  };
}

const COPIED = 'the files that squad copies';

/** Throws for a file with the content of one of these under another name, before git stores it. */
export function refuseCopies(
  files: PlainFolder,
  found: readonly { readonly path: string }[],
  copies: readonly KnownCopy[],
) {
  const objects = new Map(copies.flatMap(({ bytes, object }) => (object === undefined ? [] : [[bytes, object]])));
  if (objects.size === 0) return;
  for (const { path } of found) {
    if (!objects.has(Number(files.stat(path)?.size ?? -1))) continue;
    const file = files.open(path);
    if (file === undefined) continue;
    try {
      const content = readFileSync(file);
      const same = copies.find(({ object }) => object !== undefined && isObject(object, content));
      if (same !== undefined) throw new UnreadableFolder(sameContent(textOfPath(path), textOfPath(same.path)));
    } finally {
      closeSync(file);
    }
  }
}

function isObject(object: string, content: Uint8Array): boolean {
  return objectOf(object.length === 64 ? 'sha256' : 'sha1', content) === object;
}

function sameContent(path: string, copied: string): string {
  return `${path} has the content of ${copied}, which squad copied there from the person’s checkout and never delivers: take it out`;
}

/**
 * Why commits of a folder may not be taken: one of them, or of their history since the run's work, has such a file. `view`: finds the
 * folder's objects, without trusting them.
 */
export async function findCopied(
  context: GitContext,
  repository: RunRepository,
  {
    view,
    ids,
    bases,
    readable,
  }: { view: string; ids: readonly string[]; bases: readonly string[]; readable: readonly string[] },
): Promise<string | undefined> {
  const copies = await copiesOfRun(repository.directory);
  if (copies.length === 0) return undefined;
  const output = join(context.temporary, 'copied-changes');
  const form = ['-m', '--raw', '-z', '--no-abbrev', '--no-renames', '--format=', '--root', `--output=${output}`];
  const args = ['log', ...form, ...ids, ...bases.map((base) => `^${base}`), '--'];
  const call = { ...repository.call, cwd: view, gitDirectory: view };
  const answer = await context.git.run(args, { ...call, cage: { writable: [view, context.temporary], readable } });
  if (answer.code !== 0) return answer.problem ?? `its history cannot be read: ${answer.stderr.trim().slice(0, 200)}`;
  const paths = new Set(copies.map(({ path }) => path));
  const fields = (await readFile(output, 'latin1')).split('\0');
  for (const [index, field] of fields.entries()) {
    const [, object = '', status = ''] = /^\n?:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) ([A-Z])/.exec(field) ?? [];
    if (status === '' || status === 'D') continue;
    const path = fields[index + 1] ?? '';
    const same = copies.find((one) => one.object === object);
    if (paths.has(path)) return committed(textOfPath(path));
    if (same !== undefined) return sameContent(textOfPath(path), textOfPath(same.path));
  }
  return undefined;
}

function committed(path: string): string {
  const how = `undo your commits and keep the files with \`git reset --soft\`, run \`git rm --cached ${path}\`, and commit again`;
  return `it has ${path}, which squad copied there from the person’s checkout and never delivers, also in no earlier commit: ${how}`;
}

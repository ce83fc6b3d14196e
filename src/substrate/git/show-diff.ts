import { createReadStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChangedFile } from '../ports/workspaces.ts';
import { makeScratch, withScratch } from '../system/files/scratch.ts';
import { scratchLabel } from '../system/process/left-scratch.ts';
import { createGit, findObject, requireCommitId, splitEntries, type GitPorts } from './git-call.ts';
import { callOn } from './git-context.ts';
import type { Checkout } from './repository.ts';

/** Two commits of a repository. */
export interface DiffRange {
  readonly from: string;
  readonly to: string;
}

/** A changed file with its lines; null: it is binary. */
export interface FileDiff {
  readonly path: string;
  readonly status: ChangedFile['status'];
  readonly added: number | null;
  readonly deleted: number | null;
}

/** Nothing that the repository names runs: no textconv, external diff or pager. Names of any script stay readable. */
const SAFE = ['-r', '--no-ext-diff', '--no-textconv', '--no-color', '--no-relative', '--ignore-submodules=none'];
const NAMES = ['-c', 'core.quotePath=false'];

/** The commit of a ref or id; undefined: the repository does not have it. */
export async function findCommit(ports: GitPorts, repository: Checkout, name: string): Promise<string | undefined> {
  return findObject(createGit(ports), callOn(repository.commonDirectory), `${name}^{commit}`);
}

/** The lines of `git diff`, or of its statistics, as git writes them: not made safe for a terminal. */
export async function* readDiff(
  ports: GitPorts,
  repository: Checkout,
  range: DiffRange,
  form: 'patch' | 'stat',
): AsyncGenerator<string> {
  const folder = await makeScratch(ports.stateDirectory, scratchLabel());
  try {
    const output = join(folder, 'diff');
    const options = form === 'patch' ? ['--patch', '--find-renames'] : ['--stat=100', '--find-renames'];
    await ask(ports, repository, range, [...options, `--output=${output}`]);
    yield* linesOf(createReadStream(output, 'utf8'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Ends lines at line feeds only: at anything else, a file could begin a line that looks like one of git's. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** The changed files by their exact names, without looking for renames. */
export async function listChanges(ports: GitPorts, repository: Checkout, range: DiffRange): Promise<FileDiff[]> {
  return withScratch(
    ports.stateDirectory,
    async (folder) => {
      const output = join(folder, 'diff');
      await ask(ports, repository, range, ['--raw', '--numstat', '-z', '--no-renames', `--output=${output}`]);
      return parseChanges(await readFile(output, 'utf8'));
    },
    scratchLabel(),
  );
}

async function ask(
  ports: GitPorts,
  repository: Checkout,
  { from, to }: DiffRange,
  options: readonly string[],
): Promise<void> {
  const ids = [requireCommitId(from), requireCommitId(to)];
  const call = callOn(repository.commonDirectory);
  await createGit(ports).text([...NAMES, 'diff-tree', ...SAFE, ...options, ...ids, '--'], call);
}

const STATUS: Readonly<Record<string, FileDiff['status']>> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  T: 'retyped',
};

/** `--raw --numstat -z`: all raw entries of two fields each, then `added TAB deleted TAB path` for each file. */
function parseChanges(text: string): FileDiff[] {
  const fields = splitEntries(text);
  const status = new Map<string, FileDiff['status']>();
  let at = 0;
  for (; fields[at]?.startsWith(':') === true; at += 2) {
    status.set(fields[at + 1] ?? '', STATUS[fields[at]?.at(-1) ?? ''] ?? 'modified');
  }
  return fields.slice(at).map((field) => {
    const [, added = '', deleted = '', path = ''] = /^(\d+|-)\t(\d+|-)\t([^]*)$/.exec(field) ?? [];
    return { path, status: status.get(path) ?? 'modified', added: countOf(added), deleted: countOf(deleted) };
  });
}

function countOf(text: string): number | null {
  return text === '-' ? null : Number(text);
}

import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { GitCall } from './git-call.ts';
import type { GitContext } from './git-context.ts';

/** One path that differs between two trees. */
export interface RawChange {
  readonly path: string;
  /** `NOT_THERE`: the tree does not have it. */
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldObject: string;
  readonly newObject: string;
  readonly status: string;
}

export const NOT_THERE = '000000';
export const LINK_MODE = '120000';
export const REPOSITORY_MODE = '160000';

/**
 * The paths that differ between two trees. git writes them to a file, because the processes port keeps only a MiB of output.
 */
export async function readRawDiff(
  context: GitContext,
  call: GitCall,
  from: string,
  to: string,
  ...paths: readonly string[]
): Promise<readonly RawChange[]> {
  if (from === to) return [];
  const key = [from, to, ...paths].join(' ');
  const kept = lastRead.get(context) ?? new Map<string, Promise<readonly RawChange[]>>();
  lastRead.set(context, kept);
  const reading = kept.get(key) ?? askForDiff(context, call, [from, to, '--', ...paths]);
  kept.set(key, reading);
  reading.catch(() => kept.delete(key));
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return reading;
}

const MOST_KEPT = 8;
/** Differences of trees never change. */
const lastRead = new WeakMap<GitContext, Map<string, Promise<readonly RawChange[]>>>();

async function askForDiff(
  { git, temporary }: GitContext,
  call: GitCall,
  what: readonly string[],
): Promise<readonly RawChange[]> {
  const output = join(temporary, `diff-${randomUUID()}`);
  try {
    const options = ['--raw', '-r', '-z', '--no-renames', '--no-abbrev', '--no-ext-diff', '--no-textconv'];
    // The ids are checked, and `diff-tree` of git 2.39 takes `--end-of-options` for a revision.
    await git.text(['diff-tree', ...options, '--ignore-submodules=none', `--output=${output}`, ...what], call);
    return parseRawDiff(readFileSync(output, 'utf8'));
  } finally {
    rmSync(output, { force: true });
  }
}

export function parseRawDiff(text: string): readonly RawChange[] {
  const parts = text.split('\0');
  const changes: RawChange[] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [oldMode = '', newMode = '', oldObject = '', newObject = '', status = ''] = (parts[index] ?? '').split(' ');
    changes.push({ path: parts[index + 1] ?? '', oldMode: oldMode.slice(1), newMode, oldObject, newObject, status });
  }
  return changes;
}

/** The id of the empty tree, in the hash of this object's id. git knows it without storing it. */
export function emptyTree(object: string): string {
  return object.length === 40
    ? '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
    : '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321';
}

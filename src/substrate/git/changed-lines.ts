import { readFile, rm } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { LineChange } from '../ports/changes.ts';
import { requireCommitId, splitEntries } from './git-call.ts';
import { anyPlace, type GitContext } from './git-context.ts';
import { NOT_THERE } from './raw-diff.ts';

const OPTIONS = ['--raw', '--numstat', '-r', '-z', '--find-renames', '--no-abbrev', '--no-ext-diff', '--no-textconv'];
const STATUS: Readonly<Record<string, LineChange['status']>> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
};

export async function changedLines(context: GitContext, base: string, commit: string): Promise<readonly LineChange[]> {
  const ids = [requireCommitId(base), requireCommitId(commit)];
  const output = join(context.temporary, `lines-${randomUUID()}`);
  try {
    await context.git.text(
      ['diff-tree', ...OPTIONS, '--ignore-submodules=none', `--output=${output}`, ...ids, '--'],
      (await anyPlace(context)).call,
    );
    return parseChangedLines(await readFile(output, 'utf8'));
  } finally {
    await rm(output, { force: true });
  }
}

/** The raw entries first, then `added TAB removed TAB` and a path for each; a rename has both of its paths. */
function parseChangedLines(text: string): LineChange[] {
  const fields = splitEntries(text);
  const found: Omit<LineChange, 'added' | 'removed'>[] = [];
  let at = 0;
  while (fields[at]?.startsWith(':') === true) {
    const [, newMode = '', , object = '', letter = ''] = (fields[at] ?? '').split(' ');
    const status = STATUS[letter.slice(0, 1)] ?? 'modified';
    const path = fields[at + 1] ?? '';
    const to = status === 'renamed' ? { to: fields[at + 2] ?? '' } : {};
    found.push({ path, status, object: newMode === NOT_THERE ? null : object, ...to });
    at += status === 'renamed' ? 3 : 2;
  }
  return found.map((one) => {
    const [, added = '', removed = ''] = /^(\d+|-)\t(\d+|-)\t/.exec(fields[at] ?? '') ?? [];
    at += one.status === 'renamed' ? 3 : 1;
    return { ...one, added: countOf(added), removed: countOf(removed) };
  });
}

function countOf(text: string): number | null {
  return /^\d+$/.test(text) ? Number(text) : null;
}

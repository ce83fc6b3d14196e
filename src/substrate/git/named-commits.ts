import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SideCommit } from '../../model/plan/evidence.ts';
import { readConfinedStart } from '../system/files/open-confined.ts';
import { listFiles, readId, readRefs } from './read-refs.ts';

/** `id`: of a commit, or of a tag of one. HEAD itself is left out. */
export interface NamedCommit extends Pick<SideCommit, 'kind' | 'name'> {
  readonly id: string;
}

/** A commit that work stopped at, or that git moved away from. */
const LEFT = [
  'ORIG_HEAD',
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'rebase-merge/orig-head',
  'rebase-apply/orig-head',
];
const MOST_LOG = 4 * 1024 * 1024;
const MOST_PLACES = 50;

/**
 * All that the plain files of a git directory name: stashes, branches, HEADs of its worktrees, tags and other refs; last the
 * entries of its logs, with what a branch or HEAD named before. The best name of each is first.
 */
export async function findNamedCommits(
  directory: string,
): Promise<{ readonly found: readonly NamedCommit[]; readonly cut: boolean }> {
  const { refs, cut } = await readRefs(directory);
  const named = [...refs].flatMap(([name, id]): NamedCommit[] => {
    // The engine's own.
    if (name.startsWith('refs/remotes/squad/')) return [];
    const [, kind, rest] = /^refs\/(heads|tags)\/(.+)$/s.exec(name) ?? [];
    if (name === 'refs/stash') return [{ kind: 'stash', name, id }];
    if (rest === undefined) return [{ kind: 'ref', name, id }];
    return [{ kind: kind === 'heads' ? 'branch' : 'tag', name: rest, id }];
  });
  const names = await readdir(join(directory, 'worktrees')).catch(() => []);
  const places = names.slice(0, MOST_PLACES).map((name) => `worktrees/${name}/`);
  const heads = await readIds(
    directory,
    'worktree',
    places.map((place) => `${place}HEAD`),
  );
  const left = await readIds(
    directory,
    'log',
    ['', ...places].flatMap((place) => LEFT.map((name) => `${place}${name}`)),
  );
  const logs = await listFiles(directory, 'logs');
  const kept = await readLogs(directory, ['logs/refs/stash'], 'stash');
  const paths = [
    'logs/HEAD',
    ...places.map((place) => `${place}logs/HEAD`),
    ...logs.found.filter((path) => path !== 'logs/HEAD' && path !== 'logs/refs/stash'),
  ];
  const moved = await readLogs(directory, paths.slice(0, MOST_PLACES), 'log');
  const inOrder = (kind: NamedCommit['kind']): NamedCommit[] => named.filter((one) => one.kind === kind);
  return {
    found: [
      ...inOrder('stash'),
      ...kept.found,
      ...inOrder('branch'),
      ...heads,
      ...inOrder('tag'),
      ...inOrder('ref'),
      ...left,
      ...moved.found,
    ],
    cut: cut || kept.cut || moved.cut || names.length > MOST_PLACES || paths.length > MOST_PLACES,
  };
}

async function readIds(directory: string, kind: NamedCommit['kind'], names: readonly string[]): Promise<NamedCommit[]> {
  const found: NamedCommit[] = [];
  for (const name of names) {
    const id = await readId(directory, name);
    if (id !== undefined) found.push({ kind, name, id });
  }
  return found;
}

/** Newest first. Of the stash each entry is one; of a branch also what it named before. */
async function readLogs(directory: string, paths: readonly string[], kind: 'stash' | 'log') {
  const found: NamedCommit[] = [];
  let cut = false;
  for (const path of paths) {
    const log = await readConfinedStart(directory, path, MOST_LOG);
    cut ||= log?.cut === true;
    for (const line of log?.text.split('\n').toReversed() ?? []) {
      const [, old = '', now = ''] = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) /.exec(line) ?? [];
      const ids = kind === 'stash' ? [now] : [now, old];
      found.push(...ids.filter((id) => /[1-9a-f]/.test(id)).map((id) => ({ kind, name: path, id })));
    }
  }
  return { found, cut };
}

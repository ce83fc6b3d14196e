import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SideCommit, SideWork } from '../../model/plan/evidence.ts';
import { counted } from '../../text/counted.ts';
import { readConfinedStart } from '../system/files/open-confined.ts';
import { gitFailed, requireName } from './git-call.ts';
import { attemptRef, folderPath, type GitContext, type RunRepository } from './git-context.ts';
import { listFiles, readId, readRefs } from './read-refs.ts';
import { headOf } from './run-branch.ts';
import { publishRef } from './run-repository.ts';
import { openTaking } from './take-commit.ts';

/** `id`: of a commit, or of a tag of one. HEAD itself is left out. */
interface NamedCommit extends Pick<SideCommit, 'kind' | 'name'> {
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

/** So many commits are kept of each look at a folder, and so many are brought in to see which ones these are. */
const MOST_KEPT = 20;
const MOST_TAKEN = 200;
/** How often git tries to take some of them. */
const MOST_TRIES = 16;
const MOST_NAME = 200;
const MOST_STEPS = 64;
const MOST_LISTED = 5000;
/** Longer lists may be cut. */
const MOST_BYTES = 1_000_000;

interface Known {
  /** The commit at HEAD; of a HEAD that cannot be read, that of the start. */
  readonly head: string;
  /** Where the folder began. */
  readonly base: string;
}

interface SideAnswer {
  readonly side: SideWork;
  /** Why git must not read in the folder's store, so that what it alone has is not kept. */
  readonly problem?: string;
}

export const NO_SIDE_WORK: SideWork = { kept: [] };

export function hasSideWork({ kept, missed }: SideWork): boolean {
  return kept.length > 0 || missed !== undefined;
}

/** Keeps the commits of a folder that HEAD does not have at refs of the run. Runs no git if there are none. */
export async function keepSideCommits(
  context: GitContext,
  repository: RunRepository,
  task: string,
  known: Known,
): Promise<SideAnswer> {
  const directory = join(folderPath(context, repository.run, task), '.git');
  const { found, cut } = await findNamedCommits(directory);
  const near = await stepsBack(repository, [known.head, known.base]);
  const others = new Map<string, NamedCommit>();
  for (const one of found) if (!near.has(one.id) && !others.has(one.id)) others.set(one.id, one);
  const taken = await takeAll(context, repository, task, [...others.values()]);
  const own = await withOwnFiles(repository, near, await tipsOf(context, repository, taken.found, known));
  const kept: SideCommit[] = [];
  for (const { id, kind, name } of own.slice(0, MOST_KEPT)) {
    kept.push({ kind, name: name.slice(0, MOST_NAME), commit: id, ref: await keepSide(context, repository, task, id) });
  }
  const left = own.length - kept.length + taken.left;
  const missed = [
    ...(left === 0 ? [] : [counted(left, 'more commit')]),
    ...(cut ? ['what refs and logs name beyond the first ones'] : []),
    ...(taken.problem === undefined ? [] : [`because ${taken.problem}`]),
  ].join(', ');
  return {
    side: { kept, ...(missed === '' ? {} : { missed }) },
    ...(taken.problem === undefined ? {} : { problem: taken.problem }),
  };
}

/** Without those that only a log names and that HEAD has with another message or date, as after `git commit --amend`. */
async function withOwnFiles(
  { talk }: RunRepository,
  near: ReadonlyMap<string, string>,
  tips: readonly NamedCommit[],
): Promise<readonly NamedCommit[]> {
  const trees = new Set(near.values());
  const own: NamedCommit[] = [];
  for (const one of tips) {
    const found = one.kind === 'log' ? await talk.commit(one.id) : undefined;
    const isKnown = found !== undefined && trees.has(found.tree) && found.parents.every((id) => near.has(id));
    if (!isKnown) own.push(one);
  }
  return own;
}

/** Commits a few steps back from these, with their trees. */
async function stepsBack({ talk }: RunRepository, from: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const seen = new Map<string, string>();
  const ahead = new Set(from);
  for (const at of ahead) {
    if (seen.size === MOST_STEPS) break;
    const commit = await talk.commit(at);
    seen.set(at, commit?.tree ?? '');
    for (const parent of commit?.parents ?? []) ahead.add(parent);
  }
  return seen;
}

interface Taken {
  /** In the run's repository, with the ids of commits. */
  readonly found: readonly NamedCommit[];
  /** How many others there may be. */
  readonly left: number;
  readonly problem?: string;
}

async function takeAll(
  context: GitContext,
  repository: RunRepository,
  task: string,
  named: readonly NamedCommit[],
): Promise<Taken> {
  const some = named.slice(0, MOST_TAKEN);
  const missing: string[] = [];
  for (const { id } of some) if ((await commitAt(repository, id)) === undefined) missing.push(id);
  const logged = new Set(some.filter(({ kind }) => kind === 'log').map(({ id }) => id));
  if (missing.length === 0) return { found: await asCommits(repository, some), left: named.length - some.length };
  const take = await openTaking(context, repository, task);
  if (typeof take === 'string') {
    const found = await asCommits(
      repository,
      some.filter(({ id }) => !missing.includes(id)),
    );
    return { found, left: named.length - found.length, problem: take };
  }
  // One of them may name nothing, of those in logs many.
  const tries = [missing.filter((id) => !logged.has(id)), missing.filter((id) => logged.has(id))];
  for (let tried = 0; tried < MOST_TRIES; tried += 1) {
    const ids = tries.shift();
    if (ids === undefined) break;
    if (ids.length === 0 || (await take(ids)) === undefined || ids.length === 1) continue;
    const half = Math.ceil(ids.length / 2);
    tries.push(ids.slice(0, half), ids.slice(half));
  }
  return { found: await asCommits(repository, some), left: named.length - some.length + tries.flat().length };
}

/** Without what is not there, and notes and files. */
async function asCommits(repository: RunRepository, named: readonly NamedCommit[]): Promise<NamedCommit[]> {
  const found: NamedCommit[] = [];
  for (const one of named) {
    const id = await commitAt(repository, one.id);
    if (id !== undefined) found.push({ ...one, id });
  }
  return found;
}

async function commitAt({ talk }: RunRepository, id: string): Promise<string | undefined> {
  return talk.find(`${id}^{commit}`);
}

/** Those that no other one and no known commit has in its history. */
async function tipsOf(
  context: GitContext,
  repository: RunRepository,
  named: readonly NamedCommit[],
  { head, base }: Known,
): Promise<readonly NamedCommit[]> {
  const all = [...new Map(named.toReversed().map((one) => [one.id, one])).values()].toReversed();
  if (all.length === 0) return [];
  const known = [head, base, await headOf(context, repository.run)];
  const without: string[] = [];
  for (const id of known)
    if (id !== undefined && (await repository.talk.commit(id)) !== undefined) without.push(`^${id}`);
  const args = ['rev-list', '--parents', `--max-count=${MOST_LISTED}`, ...all.map(({ id }) => id), ...without, '--'];
  const listed = await context.git.run(args, repository.call);
  const lines = listed.stdout.split('\n').filter((line) => line !== '');
  // Part of a history hides no commit.
  if (listed.code !== 0 || lines.length === MOST_LISTED || listed.stdout.length > MOST_BYTES) return all;
  const [own, below] = [new Set<string>(), new Set<string>()];
  for (const line of lines) {
    const [id = '', ...parents] = line.split(' ');
    own.add(id);
    for (const parent of parents) below.add(parent);
  }
  return all.filter(({ id }) => own.has(id) && !below.has(id));
}

/** Not `-g` before the id: git takes a name that ends so for the commit itself, whether there is such a ref or not. */
async function keepSide(context: GitContext, repository: RunRepository, task: string, commit: string): Promise<string> {
  const ref = attemptRef(repository.run, requireName(`${task}-side-at-${commit.slice(0, 12)}`));
  if ((await context.talk.find(ref)) === commit) return ref;
  const kept = await publishRef(context, repository, ref, commit);
  if (kept.code !== 0) throw gitFailed(['update-ref'], kept);
  return ref;
}

/**
 * All that the plain files of a git directory name: stashes, branches, HEADs of its worktrees, tags and other refs; last the
 * entries of its logs, with what a branch or HEAD named before. The best name of each is first.
 */
async function findNamedCommits(
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

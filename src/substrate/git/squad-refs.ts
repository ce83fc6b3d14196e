import type { KeptRef } from '../../model/keep.ts';
import { defined } from '../../text/defined.ts';
import type { CommitLine, DroppedBranch } from '../ports/changes.ts';
import { isElsewhere } from './cleaning.ts';
import { LINE_FORMAT, parseLines } from './evidence.ts';
import {
  createGit,
  findObject,
  gitFailed,
  requireCommitId,
  requireName,
  type Git,
  type GitAnswer,
  type GitCall,
  type GitPorts,
} from './git-call.ts';
import { attemptRef, callOnUser, runBranch } from './git-context.ts';
import { lockedError, lockIn } from './git-locks.ts';
import { removeLeftLocks } from './ref-moves.ts';
import { isBookkeeping, isPin } from './run-repository.ts';
import { createTalk } from './repository-talk.ts';
import type { Checkout } from './repository.ts';
import { claimedBy, claimRef } from './run-claim.ts';

/** A ref and the commit or object that it names. */
interface FoundRef {
  readonly ref: string;
  readonly at: string;
}

export interface FoundBranch extends FoundRef {
  /** Why it has to stay: no other branch has its work, a checkout has it, or no run of squad has its name. null: it may go. */
  readonly stays: 'unmerged' | 'checked-out' | 'not-ours' | null;
}

interface SquadRefs {
  /** Below `refs/squad`. */
  readonly work: readonly FoundRef[];
  /** Below `refs/heads/squad`. */
  readonly branches: readonly FoundBranch[];
}

/** `runs`: further names of runs, which may have no refs. */
export async function findSquadRefs(
  ports: GitPorts,
  { commonDirectory }: Pick<Checkout, 'commonDirectory'>,
  runs: readonly string[],
): Promise<SquadRefs> {
  const [git, call] = [createGit(ports), callOnUser(commonDirectory)];
  const list = async (below: string) => listBelow(git, call, below);
  const work = await list('refs/squad/');
  const ours = new Set([...runs, ...work.map(({ ref }) => ref.split('/')[2])]);
  const branches: FoundBranch[] = [];
  for (const { at, ref, isCheckedOut } of await list('refs/heads/squad/')) {
    const isOurs = ours.has(ref.slice('refs/heads/squad/'.length));
    if (!isOurs) branches.push({ ref, at, stays: 'not-ours' });
    else if (isCheckedOut) branches.push({ ref, at, stays: 'checked-out' });
    else branches.push({ ref, at, stays: (await isElsewhere(git, call, at)) ? null : 'unmerged' });
  }
  return { work: work.map(({ ref, at }) => ({ ref, at })), branches };
}

interface ListedRef extends FoundRef {
  readonly isCheckedOut: boolean;
}

async function listBelow(git: Git, call: GitCall, ...below: readonly string[]): Promise<ListedRef[]> {
  const format = '--format=%(objectname) %(refname) %(worktreepath)';
  const lines = (await git.text(['for-each-ref', format, ...below], call)).split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [at = '', ref = '', ...path] = line.split(' ');
    return { at, ref, isCheckedOut: path.join(' ') !== '' };
  });
}

/** So many commits are given to one git. */
const MOST_COMMITS = 500;

/** The refs of runs, by the name of the run; not those whose name another run than `ids` says has claimed. Pins are left out. */
export async function findRunRefs(
  ports: GitPorts,
  { commonDirectory }: Pick<Checkout, 'commonDirectory'>,
  ids: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, readonly KeptRef[]>> {
  const [git, call] = [createGit(ports), callOnUser(commonDirectory)];
  const all = (await listBelow(git, call, 'refs/squad/', 'refs/heads/squad/')).flatMap((one) => {
    const [, , name = '', branch = ''] = one.ref.split('/');
    const isBranch = one.ref.startsWith('refs/heads/');
    const run = isBranch ? branch : name;
    const kind = isBranch ? ('branch' as const) : isBookkeeping(one.ref) ? ('note' as const) : ('work' as const);
    return ids.has(run) && !isPin(one.ref) ? [{ ...one, run, kind }] : [];
  });
  const foreign = new Set<string>();
  const talk = createTalk(git, call);
  try {
    for (const { run, ref, at } of all) {
      if (ref === claimRef(run) && (await talk.blob(at))?.toString() !== ids.get(run)) foreign.add(run);
    }
  } finally {
    talk.close();
  }
  const ours = all.filter(({ run }) => !foreign.has(run));
  const unmerged = await findUnmerged(
    git,
    call,
    ours.flatMap(({ kind, at }) => (kind === 'note' ? [] : [at])),
  );
  const found = ours.map(({ run, ...one }) => ({ run, ref: { ...one, isMerged: !unmerged.has(one.at) } }));
  const grouped = Map.groupBy(found, ({ run }) => run);
  return new Map([...ids.keys()].map((run) => [run, (grouped.get(run) ?? []).map(({ ref }) => ref)]));
}

/** The commits among these that no branch of the person has. Others may be in it. */
async function findUnmerged(git: Git, call: GitCall, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const commits = [...new Set(ids)];
  const unmerged = new Set<string>();
  for (let from = 0; from < commits.length; from += MOST_COMMITS) {
    const args = ['rev-list', ...commits.slice(from, from + MOST_COMMITS), ...NOT_OF_THE_PERSON, '--'];
    for (const id of (await git.text(args, call)).split('\n')) unmerged.add(id);
  }
  return unmerged;
}

/** Without what a branch has that is not squad's. */
const NOT_OF_THE_PERSON = ['--not', '--exclude=squad/*', '--branches', '--exclude=*/squad/*', '--remotes'];

/** As `deleteRefs`, after a look whether each is merged still: a person may have taken a branch back meanwhile. */
export async function deleteMergedRefs(
  ports: GitPorts,
  repository: Pick<Checkout, 'commonDirectory'>,
  refs: readonly KeptRef[],
): Promise<string | undefined> {
  const [git, call] = [createGit(ports), callOnUser(repository.commonDirectory)];
  const work = refs.flatMap(({ kind, at }) => (kind === 'note' ? [] : [at]));
  const unmerged = await findUnmerged(git, call, work);
  const lost = refs.find(({ at }) => unmerged.has(at));
  return lost === undefined ? deleteRefs(ports, repository, refs) : `${lost.ref} is not merged any more`;
}

/** Bytes of the objects that only refs of squad have, as they are stored. */
export async function objectsOfSquad(
  ports: GitPorts,
  { commonDirectory }: Pick<Checkout, 'commonDirectory'>,
): Promise<number> {
  const own = ['--glob=refs/squad', '--branches=squad'];
  const args = ['rev-list', '--objects', '--disk-usage', ...own, ...NOT_OF_THE_PERSON, '--tags'];
  return Number(await createGit(ports).text(args, callOnUser(commonDirectory)));
}

/** Deletes refs that still name what they named. Returns why it stopped; undefined: all are gone. */
export async function deleteRefs(
  ports: GitPorts,
  { commonDirectory }: Pick<Checkout, 'commonDirectory'>,
  refs: readonly FoundRef[],
): Promise<string | undefined> {
  const place = { commonDirectory, stateDirectory: ports.stateDirectory };
  await removeLeftLocks(place);
  const talk = createTalk(createGit(ports), callOnUser(commonDirectory), place);
  try {
    for (const { ref, at } of refs) {
      const moved = await talk.move(ref, null, at);
      if (moved.code === 0) continue;
      const lock = lockIn(moved.stderr);
      if (lock === undefined) return `${ref}: ${moved.stderr.trim()}`;
      const { message, next = '' } = lockedError(lock);
      return `${message}. ${next}`;
    }
    return undefined;
  } finally {
    talk.close();
  }
}

/** The folder in which the branch of a run is checked out, its head, and the id of the run that claimed the name. */
export async function findRunBranch(ports: GitPorts, { commonDirectory }: Checkout, run: string) {
  const [git, call] = [createGit(ports), callOnUser(commonDirectory)];
  const ref = runBranch(requireName(run));
  const head = await findObject(git, call, `${ref}^{commit}`);
  const path = await git.text(['for-each-ref', '--format=%(worktreepath)', ref], call);
  return { head, path: path === '' ? undefined : path, owner: await claimedBy(git, call, run) };
}

/**
 * Deletes the branch of a run, wherever its work is. `keep`: its commit stays at a ref of the run. `delivered`: what the run put
 * there; commits on top of it are a person's.
 */
export async function dropRunBranch(
  ports: GitPorts,
  repository: Checkout,
  run: string,
  { keep, delivered }: { readonly keep: boolean; readonly delivered: readonly string[] },
): Promise<DroppedBranch> {
  const { head, path } = await findRunBranch(ports, repository, run);
  if (head === undefined) return { type: 'absent' };
  if (path !== undefined) return { type: 'kept', head, why: 'checked-out' };
  const [git, call] = [createGit(ports), callOnUser(repository.commonDirectory)];
  const foreign = await findForeign(git, call, head, delivered);
  if (foreign.length > 0 && !(await isElsewhere(git, call, head))) {
    const more = Math.max(0, foreign.length - MOST_NAMED);
    return { type: 'kept', head, why: 'foreign', commits: foreign.slice(0, MOST_NAMED), more };
  }
  const talk = createTalk(git, call, { ...repository, stateDirectory: ports.stateDirectory });
  try {
    // A run that was opened again has delivered more than once.
    const kept = keep ? attemptRef(run, `delivered-${head.slice(0, 12)}`) : undefined;
    if (kept !== undefined) requireMoved(await talk.move(kept, head));
    requireMoved(await talk.move(runBranch(run), null, head));
    return { type: 'deleted', head, ...defined({ kept }) };
  } finally {
    talk.close();
  }
}

function requireMoved(answer: GitAnswer): void {
  if (answer.code !== 0) throw gitFailed(['update-ref'], answer);
}

/** So many commits are named, and so many are counted. */
const MOST_NAMED = 5;
const MOST_COUNTED = 1000;

async function findForeign(
  git: Git,
  call: GitCall,
  head: string,
  delivered: readonly string[],
): Promise<readonly CommitLine[]> {
  const known: string[] = [];
  for (const id of delivered)
    if ((await findObject(git, call, `${requireCommitId(id)}^{commit}`)) !== undefined) known.push(`^${id}`);
  const args = ['log', ...LINE_FORMAT, `--max-count=${MOST_COUNTED}`, head, ...known, '--'];
  return parseLines(await git.text(args, call));
}

import { isElsewhere } from './cleaning.ts';
import { createGit, type GitPorts } from './git-call.ts';
import { callOnUser } from './git-context.ts';
import { lockedError, lockIn } from './git-locks.ts';
import { removeLeftLocks } from './ref-moves.ts';
import { createTalk } from './repository-talk.ts';
import type { Checkout } from './repository.ts';

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
  const list = async (below: string) => {
    const format = '--format=%(objectname) %(refname) %(worktreepath)';
    const lines = (await git.text(['for-each-ref', format, below], call)).split('\n').filter((line) => line !== '');
    return lines.map((line) => {
      const [at = '', ref = '', ...path] = line.split(' ');
      return { at, ref, isCheckedOut: path.join(' ') !== '' };
    });
  };
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

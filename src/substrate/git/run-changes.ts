import type { CommitLine, Workspaces } from '../ports/workspaces.ts';
import type { GitPorts } from './git-call.ts';
import { listKeptWork, openCheckout } from './repository.ts';
import { readDiff } from './show-diff.ts';

interface RunOf {
  readonly name: string;
  readonly repository: { readonly root: string; readonly base: string };
}

/** For the report, as git prints it: neither escaped nor redacted. */
export interface RunChanges {
  readonly base: string;
  /** The run branch's head; absent: there is no such branch. */
  readonly head?: string;
  readonly commits: readonly CommitLine[];
  readonly diffStat: string;
  /** The refs that keep attempts. */
  readonly kept: Awaited<ReturnType<typeof listKeptWork>>;
}

/** `work`: a commit in place of the run branch's. */
export async function readRunChanges(
  ports: GitPorts,
  workspaces: Pick<Workspaces, 'runHead' | 'commitsBetween' | 'diffStat'>,
  { name, repository: { root, base } }: RunOf,
  work?: string,
): Promise<RunChanges> {
  const kept = await listKeptWork(ports, root, name);
  const head = work ?? (await workspaces.runHead(name));
  if (head === undefined) return { base, commits: [], diffStat: '', kept };
  const [commits, diffStat] = await Promise.all([
    workspaces.commitsBetween(base, head),
    workspaces.diffStat(base, head),
  ]);
  return { base, head, commits, diffStat, kept };
}

/** The lines of the run's diff. None if it has no branch. */
export async function* readPatch(
  ports: GitPorts,
  { repository: { root } }: RunOf,
  { base, head }: Pick<RunChanges, 'base' | 'head'>,
): AsyncGenerator<string> {
  if (head === undefined || head === base) return;
  yield* readDiff(ports, await openCheckout(ports, root), { from: base, to: head }, 'patch');
}

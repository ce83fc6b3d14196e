import type { CleanedRun, CleanedWorktree } from '../clean-run.ts';
import { plainLine } from '../../text/plain-text.ts';

/** One line for each thing that was removed, would be removed, or stays, with the reason. */
export function renderCleaned(cleaned: {
  readonly dryRun: boolean;
  readonly runs: readonly CleanedRun[];
  readonly skipped: readonly string[];
  readonly scratch: readonly string[];
}): string[] {
  const { dryRun, runs, skipped, scratch } = cleaned;
  const verb = dryRun ? 'would remove' : 'removed';
  const lines = [
    ...runs.flatMap((run) => runLines(run, verb)),
    ...scratch.map((path) => `${verb}  ${plainLine(path)}  (temporary files of a dead engine)`),
    ...skipped.map((run) => `skipped  ${run}: it is not over`),
  ];
  return lines.length === 0 ? ['nothing to clean'] : lines;
}

function runLines({ run, worktrees, turns, refs, left }: CleanedRun, verb: string): string[] {
  return [
    ...worktrees.map((worktree) => worktreeLine(worktree, verb)),
    ...(turns === 0 ? [] : [`${verb}  ${turns} turn folder${turns === 1 ? '' : 's'} of ${run}`]),
    ...left.map((name) => `kept  ${plainLine(name)} in the folder of ${run}: squad did not create it`),
    ...(refs === null ? [] : refLines(run, refs)),
  ];
}

function worktreeLine({ path, action, rescued, why }: CleanedWorktree, verb: string): string {
  if (action === 'kept') return `kept  ${plainLine(path)}  (${plainLine(why ?? '', 300)})`;
  const kept = rescued === undefined ? '' : `  (uncommitted work: ${plainLine(rescued)})`;
  return `${verb}  ${plainLine(path)}${kept}`;
}

function refLines(run: string, { attempts, branch }: NonNullable<CleanedRun['refs']>): string[] {
  const refs = attempts === 0 ? [] : [`removed  ${attempts} ref${attempts === 1 ? '' : 's'} below refs/squad/${run}`];
  switch (branch.type) {
    case 'absent':
      return refs;
    case 'deleted':
      return [...refs, `removed  branch squad/${run}, which was at ${branch.head}`];
    case 'kept':
      return branch.why === 'unmerged'
        ? [...refs, `kept  branch squad/${run}: no other branch has its work. To delete it: git branch -D squad/${run}`]
        : [...refs, `kept  branch squad/${run}: it is checked out`];
    default:
      return branch satisfies never;
  }
}

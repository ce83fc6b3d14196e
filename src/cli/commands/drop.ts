import { join } from 'node:path';
import { usageError } from '../../model/errors.ts';
import { standingOf } from '../../view/run-state.ts';
import { dropRunBranch, findRunBranch, type DroppedBranch } from '../../substrate/git/drop-branch.ts';
import { switchAdvice } from '../../substrate/git/switch-advice.ts';
import type { DroppedRefs } from '../../substrate/ports/workspaces.ts';
import { runFolder } from '../../substrate/system/files/run-files.ts';
import { plainLine } from '../../text/plain-text.ts';
import { cleanRun, type CleanedRun } from '../clean-run.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { confirm } from '../consent.ts';
import { refuseCutMerge } from '../cut-merges.ts';
import { openTarget, type OpenedTarget } from '../find-target.ts';
import { withWorkspaces } from '../open-workspaces.ts';
import { printResult } from '../output.ts';

/** Removes the folders and the branch of a run; with `all`, everything of it but its rows in the ledger. */
export async function drop(context: CommandContext, run: string | undefined, options: Options<'drop'>): Promise<void> {
  const target = await openTarget(context, { run, kinds: 'run or task' });
  const { id: runId, name } = target.reading.row;
  const all = options.all === true;
  await refuse(target, all);
  if (!(await isWanted(options, name))) return context.output.problem(`squad: ${name} stays as it is`);
  const dropped = await withWorkspaces(context.host, target, async (workspaces) => {
    const attempts = target.reading.attempts.map(({ attempt }) => attempt.id);
    const turns = join(target.directory, 'turns');
    const cleaned = await cleanRun(
      workspaces,
      turns,
      { run: name, id: runId, attempts, folder: runFolder(target.directory, runId) },
      { dryRun: false, turns: all, refs: false },
    );
    // A folder that could not be removed may need the rest.
    if (cleaned.worktrees.some(({ action }) => action === 'kept')) return { cleaned, branch: null, refs: NO_REFS };
    const { board, definition } = target.reading;
    const delivered = [board.branch.head, definition.repository.base];
    const branch = await dropRunBranch(target.composition.git, target.repository, name, { keep: !all, delivered });
    const refs = all ? await workspaces.dropRefs(name, [], runId) : NO_REFS;
    return { cleaned, branch, refs };
  });
  const { cleaned, branch, refs } = dropped;
  const kept = cleaned.worktrees.filter(({ action }) => action === 'kept');
  if (branch === null || branch.type === 'foreign') context.exit(1);
  const found = {
    type: 'dropped',
    runId,
    name,
    all,
    ...{ folders: cleaned.worktrees, turns: cleaned.turns, refs: refs.attempts, foreign: refs.foreign, branch },
  };
  printResult(context.output, options, found, [
    ...kept.map(({ path, why }) => `kept      ${plainLine(path)}: ${plainLine(why ?? '', 300)}`),
    ...linesOf(name, cleaned, branch, refs.attempts),
    ...refs.foreign.map(
      (ref) =>
        `kept      ${ref}: the run did not make what it has. To have it as a branch: git branch ${name}-kept ${ref}`,
    ),
  ]);
}

const NO_REFS: Pick<DroppedRefs, 'attempts' | 'foreign'> = { attempts: 0, foreign: [] };

async function refuse({ reading, now, composition, repository }: OpenedTarget, all: boolean): Promise<void> {
  const { id, name } = reading.row;
  const { state, conclusion } = standingOf(reading, now);
  if (reading.driven) throw usageError(`an engine runs ${name}`, `Stop it first: \`squad stop ${name}\`.`);
  if (conclusion === null && !all) {
    throw usageError(
      `${name} is not over: it is ${state}, and needs its folders to continue`,
      `End it for good with \`squad cancel ${name}\`, or remove all of it with \`squad drop ${name} --all\`.`,
    );
  }
  await refuseCutMerge(repository.commonDirectory, name);
  const { path, owner } = await findRunBranch(composition.git, repository, name);
  if (owner !== undefined && owner !== id) {
    throw usageError(
      `the branch squad/${name} belongs to another run of that name (${plainLine(owner, 80)}), which this state folder does not know`,
      'Drop that one as the person, or with the SQUAD_STATE, that started it. This run has no branch.',
    );
  }
  if (path !== undefined) {
    throw usageError(
      `the branch squad/${name} is checked out in ${plainLine(path)}`,
      `Check out another branch there: \`${await switchAdvice(composition.git, repository)}\`.`,
    );
  }
}

async function isWanted({ yes, json, all }: Options<'drop'>, name: string): Promise<boolean> {
  if (yes === true) return true;
  if (!process.stdin.isTTY || json === true) {
    throw usageError(
      `removing ${name} needs your consent`,
      `Give it with \`squad drop ${name}${all === true ? ' --all' : ''} --yes\`.`,
    );
  }
  const what = all === true ? 'all of its work, prompts and output' : 'its folders and branch; refs keep its work';
  return confirm(`Remove ${name}: ${what}?`);
}

function linesOf(run: string, { worktrees, turns }: CleanedRun, branch: DroppedBranch | null, refs: number): string[] {
  const folders = worktrees.filter(({ action }) => action === 'removed').length;
  const counted = (count: number, what: string): string[] =>
    count === 0 ? [] : [`removed   ${count} ${what}${count === 1 ? '' : 's'}`];
  return [
    ...counted(folders, 'folder'),
    ...counted(turns, 'turn folder'),
    ...counted(refs, 'ref'),
    ...(branch?.type === 'deleted' ? [`removed   branch squad/${run}, which was at ${branch.head}`] : []),
    ...(branch?.type === 'deleted' && branch.kept !== null
      ? [`kept      ${branch.kept}. To have the branch again: git branch squad/${run} ${branch.kept}`]
      : []),
    ...(branch?.type === 'checked-out' ? [`kept      branch squad/${run}: it is checked out`] : []),
    ...(branch?.type === 'foreign' ? foreignLines(run, branch) : []),
    ...(branch?.type === 'absent' && folders + turns + refs === 0 ? [`nothing is left of ${run} but its history`] : []),
  ];
}

function foreignLines(run: string, { commits, more }: Extract<DroppedBranch, { type: 'foreign' }>): string[] {
  return [
    `kept      branch squad/${run}, because it has commits that the run did not deliver. To keep it under another name: git branch -m squad/${run} ${run}-kept`,
    ...commits.map(({ commit, subject }) => `          ${commit.slice(0, 12)} ${plainLine(subject, 100)}`),
    ...(more === 0 ? [] : [`          and ${more} more`]),
  ];
}

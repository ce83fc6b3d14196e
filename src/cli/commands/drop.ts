import { usageError } from '../../model/errors.ts';
import { lookIn } from '../../squad/open-workspace.ts';
import { listQueue } from '../../view/queue.ts';
import { isQueued } from '../../view/read-run.ts';
import { standingOf } from '../../view/run-state.ts';
import { dropRunBranch, findRunBranch } from '../../substrate/git/squad-refs.ts';
import { switchAdvice } from '../../substrate/git/switch-advice.ts';
import { plainLine } from '../../text/plain-text.ts';
import { cleanedLines, cleanRun, withWorkspaces, type CleanedRun } from '../clean-run.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { agreesToRemove } from '../consent.ts';
import { refuseCutMerge } from '../cut-merges.ts';
import { openTarget, type OpenedTarget } from '../find-target.ts';
import { printResult } from '../output.ts';

/** Removes the folders and the branch of a run; with `all`, everything of it but its rows in the ledger. */
export async function drop(context: CommandContext, run: string | undefined, options: Options<'drop'>): Promise<void> {
  const target = await openTarget(context, { run, kinds: 'run or task' });
  const { id: runId, name } = target.reading.row;
  const all = options.all === true;
  await refuse(target, all);
  const what = all ? 'all of its work, prompts and output' : 'its folders and branch; refs keep its work';
  const consent = {
    about: `removing ${name}`,
    next: `squad drop ${name}${all ? ' --all' : ''} --yes`,
    question: `Remove ${name}: ${what}?`,
  };
  if (!(await agreesToRemove(options, consent))) return context.output.problem(`squad: ${name} stays as it is`);
  const cleaned = await withWorkspaces(context.host, target, async (workspaces): Promise<CleanedRun> => {
    const attempts = target.reading.attempts.map(({ attempt }) => attempt.id);
    const left = { run: name, id: runId, attempts };
    const found = await cleanRun(workspaces, target.directory, left, { dryRun: false, turns: all, refs: false });
    // A folder that could not be removed may need the rest.
    if (found.folders.some(({ action }) => action === 'kept')) return found;
    const { board, definition, published } = target.reading;
    const own = published?.repositories?.flatMap((one) => (one.name === '' ? [one.head] : [])) ?? [];
    const delivered = [board.branch.head, definition.repository.base, ...own];
    const branch = await dropRunBranch(target.composition.git, target.repository, name, { keep: !all, delivered });
    const refs = all ? await workspaces.dropRefs(name, [], runId) : { attempts: 0, foreign: [] };
    return { ...found, refs: { ...refs, branch } };
  });
  const isGone = cleaned.folders.every(({ action }) => action !== 'kept');
  const { definition, published } = target.reading;
  const elsewhere =
    definition.repositories === undefined || !isGone
      ? []
      : await (
          await import('../several-branches.ts')
        ).dropElsewhere(target.composition.git, { name, definition, published }, all ? 'all' : 'kept');
  const { run: _run, ...found } = cleaned;
  const { branch } = cleaned.refs ?? {};
  if (branch === undefined || (branch.type === 'kept' && branch.why === 'foreign')) context.exit(1);
  const lines = [...cleanedLines(cleaned, 'removed'), ...elsewhere];
  printResult(
    context.output,
    options,
    { type: 'dropped', runId, name, all, ...found, ...(elsewhere.length === 0 ? {} : { elsewhere }) },
    [...(lines.length === 0 ? [`nothing is left of ${name} but its history`] : lines)],
  );
}

async function refuse(target: OpenedTarget, all: boolean): Promise<void> {
  const { reading, now, composition, repository } = target;
  const { id, name } = reading.row;
  const { state, conclusion } = standingOf(reading, now);
  if (reading.driven) throw usageError(`an engine runs ${name}`, `Stop it first: \`squad stop ${name}\`.`);
  if (isQueued(reading) && reading.refused?.dropped !== true) {
    throw usageError(
      `${name} is in the queue, and needs its files to start`,
      `Take it out first: \`squad queue drop ${name}\`.`,
    );
  }
  const follower = all ? followerOf(target) : undefined;
  if (follower !== undefined) {
    throw usageError(
      `${follower}, in the queue, begins with what ${name} has delivered`,
      `Start it first, or take it out: \`squad queue drop ${follower}\`.`,
    );
  }
  if (conclusion === null && !all) {
    const why = isQueued(reading)
      ? 'it has never started, and can still'
      : `it is ${state}, and needs its folders to continue`;
    throw usageError(
      `${name} is not over: ${why}`,
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

/** A run of the queue that begins with the result of this one. */
function followerOf(target: OpenedTarget): string | undefined {
  const { name } = target.reading.row;
  const queue = lookIn(target, (ledger, _lockedBy, now) => listQueue(ledger, now)) ?? [];
  return queue.find(({ base }) => base.of === 'run' && base.run === name)?.name;
}

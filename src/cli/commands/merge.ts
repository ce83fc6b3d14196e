import { join } from 'node:path';
import { usageError, wrongEnvironment, type SquadError } from '../../model/errors.ts';
import { FOLDER } from '../../model/playbook-name.ts';
import type { RunView } from '../../view/run-view.ts';
import { runFolders } from '../../view/run-folders.ts';
import { workCommands } from '../../view/next-commands.ts';
import { lookIn } from '../../squad/open-workspace.ts';
import { isWithin } from '../../substrate/system/files/confine.ts';
import { realPath } from '../../substrate/system/files/real-path.ts';
import { CHECK_GIT } from '../../substrate/git/git-call.ts';
import { mergeIntoCheckout } from '../../substrate/git/merge-checkout.ts';
import type { BranchCheckout, MergeAnswer } from '../../substrate/git/merge-order.ts';
import { placeOfWork } from '../../substrate/git/place-of-work.ts';
import { openRepository } from '../../substrate/git/repository.ts';
import { requireWritable } from '../../substrate/git/require-writable.ts';
import { deleteRefs, findRunBranch } from '../../substrate/git/squad-refs.ts';
import { switchAdvice } from '../../substrate/git/switch-advice.ts';
import { findCommit } from '../../substrate/git/show-diff.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { readKeep } from '../../squad/keep.ts';
import { openView, type OpenedView } from '../../squad/read-view.ts';
import { openMachine, type Machine } from '../../engine/machine.ts';
import { printResult } from '../output.ts';

/** Merges the run branch into the branch that is checked out, or leaves everything as it is and says why. */
export async function merge(
  context: CommandContext,
  run: string | undefined,
  options: Options<'merge'>,
): Promise<void> {
  const { host } = context;
  const target = await openView({ host, composition: openMachine(host) }, run);
  const { view, composition, repository } = target;
  const { runId, name, objective: title } = view.run;
  if (view.run.delivers === null) throw nothingToMerge(view);
  const checkout = requireBranch(
    await openRepository(composition.git, repository.root),
    name,
    await switchAdvice(composition.git, repository),
  );
  await requireWritable(checkout, composition.git.stateDirectory);
  if (options.unverified !== true) refuseUnverified(view);
  const commit = await headOf(target);
  if (options.unverified !== true && commit !== view.plan.delivered) throw movedBranch(view, commit);
  if (commit === view.plan.base)
    throw usageError(`${name} has delivered nothing to merge`, `See \`squad show ${name}\`.`);
  const message = `Merge run ${name}: ${plainLine(title, 100)}`;
  const mayStay = inFolders(target);
  const answer = await mergeIntoCheckout(composition.git, checkout, { run: name, commit, message, mayStay });
  if (answer.type !== 'merged' && answer.type !== 'already') throw refusalOf(answer, checkout, name, mayStay);
  const found = {
    ...{ type: 'merged', runId, name, branch: checkout.branch },
    ...{
      how: answer.type === 'merged' ? answer.how : 'already',
      commit: answer.type === 'merged' ? answer.commit : checkout.head,
    },
  };
  const how =
    found.how === 'already' ? 'nothing was left to merge' : `now at ${found.commit.slice(0, 12)}, by ${found.how}`;
  const { base, delivered } = view.plan;
  const place = await placeOfWork(composition.git, repository, { run: name, base, delivered });
  const isGone = view.end !== null && place.at === 'merged' && (await dropMerged(target, commit));
  const [next = `squad drop ${name}`] = place.at === 'merged' ? workCommands(name, true, place) : [];
  printResult(context.output, options, found, [
    `merged    squad/${name} into ${plainLine(checkout.branch)}: ${how}`,
    ...(isGone ? [`removed   branch squad/${name}, which was at ${commit}  (keep.branches)`] : [`Next: ${next}`]),
  ]);
}

/** A person has said once that a branch goes with its merge. */
async function dropMerged(
  { host, view, composition, repository }: OpenedView<Machine>,
  commit: string,
): Promise<boolean> {
  const { branches } = await readKeep(repository.root, host);
  if (branches !== 'until-merged') return false;
  const { path, owner } = await findRunBranch(composition.git, repository, view.run.name);
  if (path !== undefined || (owner !== undefined && owner !== view.run.runId)) return false;
  const problem = await deleteRefs(composition.git, repository, [
    { ref: `refs/heads/squad/${view.run.name}`, at: commit },
  ]);
  return problem === undefined;
}

/** Whether a path of the checkout is in a folder that runs write in the checkout itself. */
function inFolders(target: OpenedView<Machine>): (path: string) => boolean {
  const { root } = target.repository;
  const folders = lookIn(target, (ledger) => runFolders(ledger, root)) ?? [];
  const place = realPath(root) ?? root;
  return (path) => folders.some((folder) => isWithin(folder, join(place, path)));
}

function nothingToMerge({ run: { name }, next: [next = `squad show ${name}`], end }: RunView): SquadError {
  const made = end?.made !== true ? `it makes a ${FOLDER} folder, and no work` : `it made a ${FOLDER} folder`;
  return usageError(`${name} has no branch to merge: ${made}`, `Continue with: \`${next}\`.`);
}

function requireBranch(
  { branch, ...repository }: Awaited<ReturnType<typeof openRepository>>,
  run: string,
  switching: string,
): BranchCheckout {
  const next = `Check out the branch that gets the work: \`${switching}\`.`;
  if (branch === undefined) throw usageError('no branch is checked out: HEAD is detached', next);
  if (branch !== `squad/${run}`) return { ...repository, branch };
  throw usageError(`the run branch ${branch} itself is checked out`, next);
}

function refuseUnverified({ run: { name, state }, end }: RunView): void {
  const anyway = `or merge what it has with \`squad merge ${name} --unverified\``;
  if (end === null) {
    throw usageError(`${name} is not over: it is ${state}`, `See \`squad status ${name}\`, ${anyway}.`);
  }
  if (end.outcome !== 'done') {
    throw usageError(`${name}: ${plainLine(end.headline, 400)}`, `See \`squad show ${name}\`, ${anyway}.`);
  }
}

async function headOf({ view, composition, repository }: OpenedView<Machine>): Promise<string> {
  const { name } = view.run;
  const head = await findCommit(composition.git, repository, `refs/heads/squad/${name}`);
  if (head !== undefined) return head;
  throw usageError(
    `the branch squad/${name} is not there any more`,
    `If its commit still is, create it again: \`git branch squad/${name} ${view.plan.delivered}\`.`,
  );
}

function movedBranch({ run: { name }, plan }: RunView, head: string): SquadError {
  const delivered = plan.delivered.slice(0, 12);
  return usageError(
    `squad/${name} is at ${head.slice(0, 12)}, and the run delivered ${delivered} last: the difference was not checked`,
    `Compare them with \`git log --oneline ${delivered}..squad/${name}\`, or merge with \`squad merge ${name} --unverified\`.`,
  );
}

/** Files that a message names; the rest are counted. */
const MOST_FILES = 10;

function refusalOf(
  answer: Exclude<MergeAnswer, { type: 'merged' | 'already' }>,
  { branch, root }: BranchCheckout,
  run: string,
  isInFolder: (path: string) => boolean,
): SquadError {
  const byGit = `\`git -C ${shellWord(root)} merge squad/${run}\``;
  switch (answer.type) {
    case 'conflict':
      return usageError(
        `squad/${run} and ${branch} change the same lines in ${named(answer.files)}; nothing was changed`,
        `Merge and resolve them yourself: ${byGit}.`,
      );
    case 'dirty':
      return usageError(
        `the checkout has uncommitted changes in ${named(answer.files)}`,
        // A stash would take away what the folder counts as done.
        `${answer.files.some(isInFolder) ? 'Commit them' : 'Commit or stash them'}, then \`squad merge ${run}\`.`,
      );
    case 'untracked':
      return usageError(
        `files that git does not know would be overwritten: ${named(answer.files)}`,
        `Move them away or commit them, then \`squad merge ${run}\`.`,
      );
    case 'filtered':
      return usageError(
        `a filter of your git configuration has to write ${named(answer.files)}, and squad runs none`,
        `Merge with git, which runs it: ${byGit}.`,
      );
    case 'cut-short':
      return usageError(
        `an earlier merge of squad/${answer.run} was cut short, and left files in the checkout; nothing was changed`,
        `Finish that one first: \`squad merge ${answer.run}\`.`,
      );
    case 'busy':
      return usageError(
        `another operation of git is not finished in the checkout (${answer.with})`,
        'See `git status`, and finish or abort it.',
      );
    case 'unrelated':
      return usageError(
        `squad/${run} and ${branch} have no common history`,
        `Check out the branch that the run started from, then \`squad merge ${run}\`.`,
      );
    case 'moved':
      return wrongEnvironment(`${branch} moved meanwhile; nothing was changed`, `Try again: \`squad merge ${run}\`.`);
    case 'refused':
      return wrongEnvironment(
        `git cannot move ${branch}, and nothing was changed: ${answer.why || 'it ended without a reason'}`,
        `${CHECK_GIT} Then \`squad merge ${run}\`.`,
      );
  }
}

function named(files: readonly string[]): string {
  const more = files.length > MOST_FILES ? ` and ${files.length - MOST_FILES} more` : '';
  return `${files
    .slice(0, MOST_FILES)
    .map((path) => plainLine(path, 200))
    .join(', ')}${more}`;
}

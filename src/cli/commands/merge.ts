import { join } from 'node:path';
import { usageError } from '../../model/errors.ts';
import { runFolders } from '../../view/run-folders.ts';
import { workCommands } from '../../view/next-commands.ts';
import { lookIn, openWorkspace, runNamed } from '../../squad/open-workspace.ts';
import { isWithin } from '../../substrate/system/files/confine.ts';
import { realPath } from '../../substrate/system/files/real-path.ts';
import { mergeIntoCheckout } from '../../substrate/git/merge-checkout.ts';
import { findBranch, mergeIntoBranch } from '../../substrate/git/merge-into-branch.ts';
import type { BranchCheckout } from '../../substrate/git/merge-order.ts';
import { placeOfWork } from '../../substrate/git/place-of-work.ts';
import { countCommits } from '../../substrate/git/begin-at.ts';
import { openRepository, type Repository } from '../../substrate/git/repository.ts';
import { requireWritable } from '../../substrate/git/require-writable.ts';
import { deleteRefs, findRunBranch } from '../../substrate/git/squad-refs.ts';
import { switchAdvice } from '../../substrate/git/switch-advice.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { readKeep } from '../../squad/keep.ts';
import { openView, type OpenedView } from '../../squad/read-view.ts';
import { openMachine, type Machine } from '../../engine/machine.ts';
import { headOf, movedBranch, requireBranch, requireDone, squashMessage, withoutBranch } from '../delivered-work.ts';
import { mergeRefusal } from '../merge-refusal.ts';
import { printResult } from '../output.ts';

/** Merges the run branch into the branch that is checked out, or another one, or leaves everything as it is and says why. */
export async function merge(
  context: CommandContext,
  run: string | undefined,
  options: Options<'merge'>,
): Promise<void> {
  const { host } = context;
  if (run !== undefined && (await mayBeLine(context, run))) {
    const { mergeLine } = await import('./merge-line.ts');
    if (await mergeLine(context, run, options)) return;
  }
  const target = await openView({ host, composition: openMachine(host) }, run);
  const { view, composition, repository } = target;
  const { runId, name, objective: title } = view.run;
  if (view.run.repositories !== undefined)
    return (await import('./merge-several.ts')).mergeSeveral(context, target, options);
  if (view.run.delivers === null) throw withoutBranch(view);
  const into = await intoBranch(target, options.into);
  const { checkout, isCheckedOut } = into;
  await requireWritable(checkout, composition.git.stateDirectory);
  const anyway = `or merge what it has with \`squad merge ${name} --unverified\``;
  if (options.unverified !== true) requireDone(view, anyway);
  const commit = await headOf(target);
  if (options.unverified !== true && commit !== view.plan.delivered) throw movedBranch(view, commit, anyway);
  if (commit === view.plan.base)
    throw usageError(`${name} has delivered nothing to merge`, `See \`squad show ${name}\`.`);
  const message = options.squash === true ? squashMessage(view) : `Merge run ${name}: ${plainLine(title, 100)}`;
  const mayStay = inFolders(target);
  const order = { run: name, commit, message, mayStay, squash: options.squash };
  const answer = isCheckedOut
    ? await mergeIntoCheckout(composition.git, checkout, order)
    : await mergeIntoBranch(composition.git, checkout, checkout, order);
  if (answer.type !== 'merged' && answer.type !== 'already') {
    const of = { branch: checkout.branch, root: checkout.root, run: name, again: commandOf(name, options) };
    throw mergeRefusal(answer, { ...of, isCheckedOut }, mayStay);
  }
  const how = answer.type === 'merged' ? answer.how : 'already';
  const along = how === 'already' ? undefined : await broughtAlong(target, checkout.head);
  const made = answer.type === 'merged' ? answer.commit : checkout.head;
  const found = { type: 'merged', runId, name, branch: checkout.branch, how, commit: made, ...along?.facts };
  const said = how === 'already' ? 'nothing was left to merge' : `now at ${made.slice(0, 12)}, by ${how}`;
  const { base, delivered } = view.plan;
  const place = await placeOfWork(composition.git, repository, { run: name, base, delivered });
  const isGone = view.end !== null && place.at === 'merged' && (await dropMerged(target, commit));
  const [next = `squad drop ${name}`] = place.at === 'merged' ? workCommands(name, true, place) : [];
  printResult(context.output, options, found, [
    `merged    squad/${name} into ${plainLine(checkout.branch)}: ${said}`,
    ...(along === undefined ? [] : [`note      ${along.text}`]),
    ...(isGone ? [`removed   branch squad/${name}, which was at ${commit}  (keep.branches)`] : [`Next: ${next}`]),
  ]);
}

/** Whether no run has this name. */
async function mayBeLine({ host }: CommandContext, name: string): Promise<boolean> {
  const workspace = await openWorkspace({ host, composition: openMachine(host) });
  return lookIn(workspace, (ledger) => runNamed(workspace, ledger, name) === undefined) ?? true;
}

/** Commits that are not of the run: its branch had them from what a person named as its beginning. undefined: there are none. */
async function broughtAlong({ view, composition, repository }: OpenedView<Machine>, before: string) {
  const { from } = view.run;
  if (from === undefined) return undefined;
  const commits = await countCommits(composition.git, repository, { from: before, to: view.plan.base });
  if (commits === 0) return undefined;
  const text = `${counted(commits, 'commit')} of ${plainLine(from, 100)}, which the run began from, came with it`;
  return { facts: { from, along: commits }, text };
}

interface Into {
  readonly checkout: BranchCheckout;
  /** The files of the checkout change with the branch. */
  readonly isCheckedOut: boolean;
}

/** The branch that is checked out, or the one that a person named. Throws `usage` if it cannot get the work. */
async function intoBranch(
  { view, composition, repository }: OpenedView<Machine>,
  named: string | undefined,
): Promise<Into> {
  const { name } = view.run;
  const opened = await openRepository(composition.git, repository.root);
  if (named === undefined || named === opened.branch) {
    const switching = await switchAdvice(composition.git, repository);
    return { checkout: requireBranch(opened, name, switching), isCheckedOut: true };
  }
  return { checkout: await otherBranch(composition.git, opened, { branch: named, run: name }), isCheckedOut: false };
}

async function otherBranch(
  git: Machine['git'],
  opened: Repository,
  { branch, run }: { readonly branch: string; readonly run: string },
): Promise<BranchCheckout> {
  const shown = plainLine(branch, 200);
  if (branch === `squad/${run}`)
    throw usageError(`${shown} is the run branch itself`, 'Name the branch that gets the work.');
  const found = await findBranch(git, opened, branch);
  if (found === undefined) {
    throw usageError(
      `there is no branch ${shown}`,
      `See which there are: \`git branch\`, or make it: \`git branch ${shellWord(shown)}\`.`,
    );
  }
  if (found.path !== undefined) {
    throw usageError(
      `${shown} is checked out in ${plainLine(found.path, 300)}, whose files would not follow it`,
      `Merge there: \`cd ${shellWord(found.path)} && squad merge ${run}\`.`,
    );
  }
  return { ...opened, branch, head: found.head };
}

function commandOf(run: string, { into, squash, unverified }: Options<'merge'>): string {
  return [
    `squad merge ${run}`,
    ...(into === undefined ? [] : [`--into ${shellWord(plainLine(into, 200))}`]),
    ...(squash === true ? ['--squash'] : []),
    ...(unverified === true ? ['--unverified'] : []),
  ].join(' ');
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

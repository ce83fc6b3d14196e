import { usageError } from '../../model/errors.ts';
import { folderOf, type RepositoryView } from '../../model/repositories.ts';
import type { Machine } from '../../engine/machine.ts';
import type { OpenedView } from '../../squad/read-view.ts';
import { branchAt } from '../../substrate/git/joined/give-branch.ts';
import { mergeIntoCheckout } from '../../substrate/git/merge-checkout.ts';
import type { BranchCheckout } from '../../substrate/git/merge-order.ts';
import { openRepository } from '../../substrate/git/repository.ts';
import { requireWritable } from '../../substrate/git/require-writable.ts';
import { switchAdvice } from '../../substrate/git/switch-advice.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { requireBranch, requireDone, squashMessage } from '../delivered-work.ts';
import { mergeRefusal } from '../merge-refusal.ts';
import { printResult } from '../output.ts';

interface Ready {
  readonly of: RepositoryView & { readonly head: string };
  readonly checkout: BranchCheckout;
}

/**
 * Merges the branch of a run in each of its repositories, into what is checked out there. All are looked at before the first; one that
 * cannot be merged all the same leaves those before it merged, and the same command does the rest.
 */
export async function mergeSeveral(
  context: CommandContext,
  { view, composition, host }: OpenedView<Machine>,
  options: Options<'merge'>,
): Promise<void> {
  const { name, runId, objective, repositories = [] } = view.run;
  if (options.into !== undefined || options.unverified === true) {
    const flag = options.into === undefined ? '--unverified' : '--into';
    throw usageError(
      `${flag} is for a run of one repository, and ${name} works on several`,
      `Check out in each what gets the work, then \`squad merge ${name}\`.`,
    );
  }
  requireDone(view, 'and take its work with git');
  const changed = repositories.flatMap((one) => (one.head === null ? [] : [{ ...one, head: one.head }]));
  if (changed.length === 0) throw usageError(`${name} has delivered nothing to merge`, `See \`squad show ${name}\`.`);
  const ready: Ready[] = [];
  for (const of of changed) ready.push({ of, checkout: await readyIn(composition.git, of, name, host.stateDirectory) });
  const again = `squad merge ${name}${options.squash === true ? ' --squash' : ''}`;
  const message = options.squash === true ? squashMessage(view) : `Merge run ${name}: ${plainLine(objective, 100)}`;
  const merged: { path: string; branch: string; how: string; commit: string }[] = [];
  for (const { of, checkout } of ready) {
    const order = { run: name, commit: of.head, message, mayStay: () => false, squash: options.squash };
    const answer = await mergeIntoCheckout(composition.git, checkout, order);
    if (answer.type !== 'merged' && answer.type !== 'already') {
      const about = { branch: checkout.branch, root: checkout.root, run: name, again, isCheckedOut: true };
      const refusal = mergeRefusal(answer, about, () => false);
      const before = merged.length === 0 ? '' : ` (merged before: ${merged.map(({ path }) => path).join(', ')})`;
      throw usageError(`${placeOf(of)}: ${refusal.message}${before}`, refusal.next ?? `\`${again}\`.`);
    }
    const how = answer.type === 'merged' ? answer.how : 'already';
    const commit = answer.type === 'merged' ? answer.commit : checkout.head;
    merged.push({ path: of.path, branch: checkout.branch, how, commit });
  }
  printResult(context.output, options, { type: 'merged', runId, name, repositories: merged }, [
    ...merged.map(({ path, branch, how, commit }) => {
      const said = how === 'already' ? 'nothing was left to merge' : `now at ${commit.slice(0, 12)}, by ${how}`;
      return `merged    squad/${name} into ${plainLine(branch)} of ${plainLine(path, 300)}: ${said}`;
    }),
    `Next: squad drop ${name}`,
  ]);
}

/** Throws if the branch there is not what was delivered, or nothing can be merged into. */
async function readyIn(
  git: Machine['git'],
  { path, head, name: id }: Ready['of'],
  run: string,
  stateDirectory: string,
): Promise<BranchCheckout> {
  const opened = await openRepository(git, path);
  await requireWritable(opened, stateDirectory);
  const checkout = requireBranch(opened, run, await switchAdvice(git, opened));
  const at = await branchAt(git, opened.commonDirectory, run);
  if (at === head) return checkout;
  const where = placeOf({ name: id, path });
  const there = `git -C ${shellWord(plainLine(path, 300))}`;
  if (at === undefined)
    throw usageError(
      `${where}: the branch squad/${run} is gone`,
      `Make it again: \`${there} branch squad/${run} ${head}\`.`,
    );
  throw usageError(
    `${where}: squad/${run} is at ${at.slice(0, 12)}, and the run delivered ${head.slice(0, 12)}: the difference was not checked`,
    `Compare them with \`${there} log --oneline ${head.slice(0, 12)}..squad/${run}\`.`,
  );
}

function placeOf({ name, path }: Pick<RepositoryView, 'name' | 'path'>): string {
  return name === '' ? plainLine(path, 300) : folderOf(name);
}

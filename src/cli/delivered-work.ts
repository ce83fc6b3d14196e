import { usageError, type SquadError } from '../model/errors.ts';
import { FOLDER } from '../model/playbook-name.ts';
import type { Machine } from '../engine/machine.ts';
import type { OpenedView } from '../squad/read-view.ts';
import type { BranchCheckout } from '../substrate/git/merge-order.ts';
import type { Repository } from '../substrate/git/repository.ts';
import { findCommit } from '../substrate/git/show-diff.ts';
import { plainLine } from '../text/plain-text.ts';
import type { RunView } from '../view/run-view.ts';

/** Throws `usage` unless the run is done. `anyway`: what gets its work all the same. */
export function requireDone({ run: { name, state }, end }: RunView, anyway: string): void {
  if (end === null) {
    throw usageError(`${name} is not over: it is ${state}`, `See \`squad status ${name}\`, ${anyway}.`);
  }
  if (end.outcome !== 'done') {
    throw usageError(`${name}: ${plainLine(end.headline, 400)}`, `See \`squad show ${name}\`, ${anyway}.`);
  }
}

/** The commit of the run branch. Throws `usage` if that is gone. */
export async function headOf({ view, composition, repository }: OpenedView<Machine>): Promise<string> {
  const { name } = view.run;
  const head = await findCommit(composition.git, repository, `refs/heads/squad/${name}`);
  if (head !== undefined) return head;
  throw usageError(
    `the branch squad/${name} is not there any more`,
    `If its commit still is, create it again: \`git branch squad/${name} ${view.plan.delivered}\`.`,
  );
}

/** Why a commit that no check covered is not taken. */
export function movedBranch({ run: { name }, plan }: RunView, head: string, anyway: string): SquadError {
  const delivered = plan.delivered.slice(0, 12);
  return usageError(
    `squad/${name} is at ${head.slice(0, 12)}, and the run delivered ${delivered} last: the difference was not checked`,
    `Compare them with \`git log --oneline ${delivered}..squad/${name}\`, ${anyway}.`,
  );
}

/** Why a run without a branch has no work to take. */
export function withoutBranch({ run: { name }, next: [next = `squad show ${name}`], end }: RunView): SquadError {
  const made = end?.made !== true ? `it makes a ${FOLDER} folder, and no work` : `it made a ${FOLDER} folder`;
  return usageError(`${name} has no branch: ${made}`, `Continue with: \`${next}\`.`);
}

/** For all work of a run in one commit. */
export function squashMessage({ run: { name, objective } }: RunView): string {
  return `${plainLine(objective, 100)}\n\nAll of run ${name}, in one commit.`;
}

/** Throws `usage` unless a branch is checked out that can get the work. */
export function requireBranch({ branch, ...repository }: Repository, run: string, switching: string): BranchCheckout {
  const next = `Check out the branch that gets the work: \`${switching}\`.`;
  if (branch === undefined) throw usageError('no branch is checked out: HEAD is detached', next);
  if (branch !== `squad/${run}`) return { ...repository, branch };
  throw usageError(`the run branch ${branch} itself is checked out`, next);
}

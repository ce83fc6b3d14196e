import { usageError } from '../../model/errors.ts';
import type { Team } from '../../model/sprint/team.ts';
import { lookIn, openWorkspace, runNamed, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { lookAtTeam } from '../../squad/team/read-team.ts';
import { readTeamSettings } from '../../squad/team/team-settings.ts';
import { mergeIntoCheckout } from '../../substrate/git/merge-checkout.ts';
import { findBranch } from '../../substrate/git/merge-into-branch.ts';
import { openRepository } from '../../substrate/git/repository.ts';
import { requireWritable } from '../../substrate/git/require-writable.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { mergeRefusal } from '../merge-refusal.ts';
import { printResult } from '../output.ts';

/** Merges the line of work of the sprints into the branch that is checked out. False: the name means something else. */
export async function mergeLine(context: CommandContext, name: string, options: Options<'merge'>): Promise<boolean> {
  const workspace = await openWorkspace(context);
  const { team } = lookAtTeam(workspace);
  if (team.sprint.size === 0 || isRun(workspace, name)) return false;
  const { branch } = await readTeamSettings(workspace);
  if (name !== branch) return false;
  if (options.into !== undefined)
    throw usageError(`--into cannot be combined with ${branch}`, `Check the branch out that gets it: \`git switch\`.`);
  const { composition, repository } = workspace;
  const opened = await openRepository(composition.git, repository.root);
  const line = await findBranch(composition.git, opened, branch);
  if (opened.branch === undefined || line === undefined || opened.branch === branch)
    throw usageError(
      `${plainLine(branch)} cannot be merged here`,
      'Check out the branch that gets it: `git switch main`.',
    );
  const last = newestHead(team);
  if (options.unverified !== true && last !== line.head)
    throw usageError(
      `${branch} is not where the last sprint left it (${last?.slice(0, 12) ?? 'none has delivered'})`,
      `See it with \`git log ${branch}\`, and take it with \`squad merge ${branch} --unverified\`.`,
    );
  await requireWritable(opened, composition.git.stateDirectory);
  const checkout = { ...opened, branch: opened.branch };
  const done = [...team.end.values()].filter(({ head }) => head !== null).length;
  const message = `Merge ${branch}: ${counted(done, 'sprint')}`;
  const order = { run: branch, commit: line.head, message, squash: options.squash };
  const answer = await mergeIntoCheckout(composition.git, checkout, order);
  if (answer.type !== 'merged' && answer.type !== 'already') {
    const again = `squad merge ${branch}`;
    throw mergeRefusal(
      answer,
      { branch: opened.branch, root: opened.root, run: branch, again, isCheckedOut: true },
      () => false,
    );
  }
  const how = answer.type === 'merged' ? answer.how : 'already';
  const commit = answer.type === 'merged' ? answer.commit : opened.head;
  const said = how === 'already' ? 'nothing was left to merge' : `now at ${commit.slice(0, 12)}, by ${how}`;
  printResult(context.output, options, { type: 'merged', line: branch, branch: opened.branch, how, commit }, [
    `merged    ${branch} into ${plainLine(opened.branch)}: ${said}`,
  ]);
  return true;
}

function isRun(workspace: OpenedWorkspace, name: string): boolean {
  return lookIn(workspace, (ledger) => runNamed(workspace, ledger, name) !== undefined) ?? false;
}

function newestHead({ end }: Team): string | undefined {
  return [...end.values()].findLast(({ head }) => head !== null)?.head ?? undefined;
}

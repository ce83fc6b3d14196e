import { usageError } from '../../model/errors.ts';
import { lineLeftAt, type Team } from '../../model/sprint/team.ts';
import { openWorkspace } from '../../squad/open-workspace.ts';
import { lookAtTeam } from '../../squad/team/read-team.ts';
import { readTeamSettings } from '../../squad/team/team-settings.ts';
import { countCommits } from '../../substrate/git/begin-at.ts';
import type { GitPorts } from '../../substrate/git/git-call.ts';
import { mergeIntoCheckout } from '../../substrate/git/merge-checkout.ts';
import { findBranch } from '../../substrate/git/merge-into-branch.ts';
import { openRepository, type Repository } from '../../substrate/git/repository.ts';
import { requireWritable } from '../../substrate/git/require-writable.ts';
import { atMost } from '../../text/at-most.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { mergeRefusal } from '../merge-refusal.ts';
import { printResult } from '../output.ts';

/** Merges the line of work of the sprints into the branch that is checked out. False: the name means something else. */
export async function mergeLine(context: CommandContext, name: string, options: Options<'merge'>): Promise<boolean> {
  const workspace = await openWorkspace(context);
  const { branch } = await readTeamSettings(workspace);
  if (name !== branch) return false;
  const { team } = lookAtTeam(workspace);
  if (team.sprint.size === 0)
    throw usageError(
      `no sprint has started here, so ${plainLine(branch)} has nothing to merge`,
      'Start one: `squad sprint start "…"`.',
    );
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
  const brings = await countCommits(composition.git, opened, { from: opened.head, to: line.head });
  const last = lineLeftAt(team);
  if (options.unverified !== true && brings > 0 && last !== line.head)
    throw usageError(
      `${branch} is not where the last sprint left it (${last?.slice(0, 12)})`,
      `See it with \`git log ${branch}\`, and take it with \`squad merge ${branch} --unverified\`.`,
    );
  const sprints = await broughtBy(composition.git, opened, team);
  await requireWritable(opened, composition.git.stateDirectory);
  const checkout = { ...opened, branch: opened.branch };
  const message = `Merge ${branch}: ${counted(sprints.length, 'sprint')}`;
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
  const found = { type: 'merged', line: branch, branch: opened.branch, how, commit, sprints };
  const of = sprints.length === 0 ? '' : ` of ${atMost(sprints, MOST_NAMED, (left) => `${left} more`).join(', ')}`;
  printResult(context.output, options, found, [
    `merged    ${branch} into ${plainLine(opened.branch)}: ${said}`,
    ...(how === 'already' ? [] : [`brought   ${counted(brings, 'commit')}${of}`]),
  ]);
  return true;
}

const MOST_NAMED = 5;

/** The sprints whose work HEAD does not have, the oldest first. */
async function broughtBy(ports: GitPorts, opened: Repository, { end }: Team): Promise<string[]> {
  const found: string[] = [];
  for (const [id, { head }] of [...end].toReversed()) {
    if (head === null) continue;
    // An earlier one is in each later one.
    if ((await countCommits(ports, opened, { from: opened.head, to: head })) === 0) break;
    found.unshift(id);
  }
  return found;
}

import { forgePortsOf, openMachine } from '../../engine/machine.ts';
import { usageError, wrongEnvironment, type SquadError } from '../../model/errors.ts';
import { pullRequestText } from '../../model/pull-request-text.ts';
import { lookIn } from '../../squad/open-workspace.ts';
import { openView } from '../../squad/read-view.ts';
import { createForge } from '../../substrate/git/forge/index.ts';
import type { Forge, PullRequestAnswer, Refused } from '../../substrate/ports/forge.ts';
import { plainLine } from '../../text/plain-text.ts';
import { readHistory } from '../../view/read-run.ts';
import { requestReport } from '../../view/report/report.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { headOf, movedBranch, requireDone, withoutBranch } from '../delivered-work.ts';
import { printResult } from '../output.ts';

/**
 * Pushes the branch of a run that is done, and opens a pull request or finds the open one. Each step may be done already, so the same
 * command finishes what a kill has cut short.
 */
export async function pr(context: CommandContext, run: string | undefined, options: Options<'pr'>): Promise<void> {
  const { host } = context;
  const target = await openView({ host, composition: openMachine(host) }, run);
  const { view, repository } = target;
  const { runId, name } = view.run;
  if (view.run.delivers === null) throw withoutBranch(view);
  const { playbooks } = target.composition;
  const reading = lookIn(target, (ledger) => readHistory(ledger, runId, null, playbooks));
  if (reading === undefined) throw withoutBranch(view);
  const { definition } = reading;
  if (definition.repositories !== undefined)
    return (await import('./pr-several.ts')).prSeveral(context, target, reading, options);
  const remote = options.remote ?? definition.publish?.remote ?? 'origin';
  const anyway = `or push what it has yourself: \`git push ${plainLine(remote, 100)} squad/${name}\``;
  requireDone(view, anyway);
  const commit = await headOf(target);
  if (commit !== view.plan.delivered) throw movedBranch(view, commit, anyway);
  if (commit === view.plan.base)
    throw usageError(`${name} has delivered nothing to push`, `See \`squad show ${name}\`.`);
  const base = options.base ?? definition.publish?.base ?? definition.repository.branch;
  if (base === undefined) {
    const next = `Name the branch that gets the work: \`squad pr ${name} --base main\`.`;
    throw usageError(`${name} began without a branch (HEAD was detached)`, next);
  }
  const order = { name, remote, base, commit, text: pullRequestText(definition, requestReport(reading, view)) };
  const url = await openRequest(createForge(forgePortsOf(target), repository), order);
  const found = { type: 'pull-request', runId, name, remote, base, commit, url };
  printResult(context.output, options, found, [
    `pushed    squad/${name} to ${plainLine(remote)}, at ${commit.slice(0, 12)}`,
    `opened    ${plainLine(url, 400)}  (into ${plainLine(base)})`,
  ]);
}

interface Order {
  readonly name: string;
  readonly remote: string;
  readonly base: string;
  readonly commit: string;
  readonly text: { readonly title: string; readonly body: string };
}

async function openRequest(forge: Forge, { name, remote, base, commit, text }: Order): Promise<string> {
  const branch = `squad/${name}`;
  const byGit = `Push it yourself, and open the pull request on its page: \`git push ${plainLine(remote, 100)} ${branch}\`.`;
  // It needs the remote, the program, a login and the repository there: nothing is pushed without them.
  const before = await forge.findPullRequest({ remote, branch });
  if (before.type === 'refused') throw refusal(`nothing was pushed: ${before.why}`, before, byGit);
  const pushed = await forge.push({ remote, branch, commit });
  if (pushed.type === 'refused') throw refusal(`${branch} was not pushed to ${remote}: ${pushed.why}`, pushed, byGit);
  const opened: PullRequestAnswer = await forge.openPullRequest({ remote, branch, base, ...text });
  if (opened.type === 'found') return opened.pullRequest.url;
  const answer: Refused = opened.type === 'refused' ? opened : { type: 'refused', why: 'the forge shows none' };
  throw refusal(`${branch} was pushed to ${remote}, and no pull request was opened: ${answer.why}`, answer, byGit);
}

function refusal(message: string, { next }: Pick<Refused, 'next'>, otherwise: string): SquadError {
  return wrongEnvironment(message, next ?? otherwise);
}

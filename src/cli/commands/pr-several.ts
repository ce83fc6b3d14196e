import { forgePortsOf, type Machine } from '../../engine/machine.ts';
import { publishAll } from '../../engine/several/publish.ts';
import { usageError, wrongEnvironment } from '../../model/errors.ts';
import type { OpenedView } from '../../squad/read-view.ts';
import { createForge } from '../../substrate/git/forge/index.ts';
import { openCheckout } from '../../substrate/git/repository.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { RunHistory } from '../../view/read-run.ts';
import { requestReport } from '../../view/report/report.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { requireDone } from '../delivered-work.ts';
import { printResult } from '../output.ts';

/** Pushes the branch of a run in each of its repositories, and opens a pull request for each. Finishes what a kill has cut short. */
export async function prSeveral(
  context: CommandContext,
  target: OpenedView<Machine>,
  reading: RunHistory,
  options: Options<'pr'>,
): Promise<void> {
  const { view, composition } = target;
  const { definition } = reading;
  const { name, runId, repositories = [] } = view.run;
  requireDone(view, 'and push its branches with git');
  const delivered = repositories.flatMap(({ name: id, path, head }) =>
    head === null ? [] : [{ name: id, root: path, head, changed: true }],
  );
  if (delivered.length === 0) throw usageError(`${name} has delivered nothing to push`, `See \`squad show ${name}\`.`);
  const { remote: asked, base } = options;
  const remote = asked ?? definition.publish?.remote ?? 'origin';
  const own = base ?? definition.publish?.base;
  const found = await publishAll({
    definition,
    publish: { ...definition.publish, remote, pr: true, ...(own === undefined ? {} : { base: own }) },
    delivered,
    forgeOf: async ({ root }) => createForge(forgePortsOf(target), await openCheckout(composition.git, root)),
    report: () => requestReport(reading, view),
  });
  if (found.problem !== undefined) throw wrongEnvironment(found.problem, `Then \`squad pr ${name}\` again.`);
  const opened = found.repositories ?? [];
  printResult(
    context.output,
    options,
    { type: 'pull-requests', runId, name, remote, repositories: opened },
    opened.map(({ root, pr = '' }) => `opened    ${plainLine(pr, 400)}  (from ${plainLine(root, 300)})`),
  );
}

import { uuid7 } from '../../substrate/system/clock/ids.ts';
import { operatorOf } from '../../squad/machine.ts';
import { bindWorkspace, openWorkspace } from '../../squad/open-workspace.ts';
import { runAction } from '../../squad/people/run-action.ts';
import { actionItems } from '../../squad/preflight/action-items.ts';
import { agree } from '../../squad/preflight/consent.ts';
import { findAction, readActions } from '../../squad/preflight/read-actions.ts';
import { plainLine } from '../../text/plain-text.ts';
import { actionEnd, isActionDone } from '../../view/people/action-text.ts';
import type { CommandContext, JsonOptions, Options } from '../command-context.ts';
import { trustOf } from '../consent.ts';
import { printResult } from '../output.ts';
import { renderTable } from '../render/table.ts';

export async function actionList(context: CommandContext, { json }: JsonOptions): Promise<void> {
  const { output } = context;
  const { repository } = await openWorkspace(context);
  const actions = Object.entries((await readActions(repository.root)).actions);
  if (json === true) {
    for (const [name, { run, says = null, args, wall }] of actions)
      output.json({ type: 'action', name, run, says, args, wall });
    return;
  }
  if (actions.length === 0) return output.line('squad.yaml has no actions. They stand in its section `actions`.');
  const head = ['action', 'arguments', 'runs', 'about'].map((title) => output.style('dim', title));
  const rows = actions.map(([name, { run, says = '', args }]) => [name, String(args), plainLine(run, 200), says]);
  for (const line of renderTable({ head, rows, columns: output.columns(), cut: 'last' })) output.line(line);
}

/** Runs an action here and now, after consent, and prints what it printed. Exits with 1 where it fails. */
export async function actionRun(
  context: CommandContext,
  name: string,
  args: readonly string[],
  options: Options<'action run'>,
): Promise<void> {
  const { host, output } = context;
  const workspace = bindWorkspace(await openWorkspace(context));
  const { action, source } = await findAction(workspace.repository.root, { name, args: [...args] });
  const trust = trustOf(context, options);
  const ports = {
    clock: workspace.composition.clock,
    host,
    ...(typeof trust === 'function' ? { confirm: trust } : {}),
  };
  const about = {
    repository: workspace.repository,
    yes: trust === 'yes',
    next: 'Read it, then give the command again with `--yes`.',
  };
  await agree(actionItems(name, action, source), ports, about);
  const key = uuid7(workspace.composition.clock.now());
  const ran = await runAction(workspace, { key, name, args: [...args], by: operatorOf(host) }, action);
  const printed = ran.end?.output ?? '';
  printResult(output, options, { type: 'action-ended', id: key, ...ran }, [
    ...(printed === '' ? [] : printed.split('\n')),
    actionEnd(ran),
  ]);
  context.exit(isActionDone(ran) ? 0 : 1);
}

import { openMachine } from '../../engine/machine.ts';
import { openWorkspace } from '../../squad/open-workspace.ts';
import { lookAtTeam } from '../../squad/team/read-team.ts';
import { lineAhead, lookAtLine } from '../../squad/team/line.ts';
import { nextOfTeam } from '../../squad/team/next-of-team.ts';
import { readSprintSettings } from '../../squad/team/sprint-settings.ts';
import { statusLines, statusOf } from '../../view/sprint/status.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';

/** Shows how the team stands, and what is next. */
export async function sprintStatus(context: CommandContext, options: JsonOptions): Promise<void> {
  const { host } = context;
  // Needs no runtime and no checks, so none are loaded.
  const workspace = await openWorkspace({ host, composition: openMachine(host) });
  const settings = await readSprintSettings(workspace);
  const seen = lookAtTeam(workspace);
  const line = await lookAtLine(workspace, settings.branch);
  const status = statusOf({
    ...{ team: seen.team, timezone: settings.timezone, isOver: (run) => seen.runState(run) === 'over' },
    next: await nextOfTeam(workspace, settings, seen, line),
    line: await lineAhead(workspace.composition.git, line),
  });
  printResult(context.output, options, { type: 'sprint-status', ...status }, statusLines(status));
}

import { findService } from '../../squad/service/service-lock.ts';
import { bindWorkspace, openWorkspace, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { teamFilesKeeper } from '../../squad/team/keep-team-files.ts';
import { stepTeam, type StepOptions } from '../../squad/team/step-team.ts';
import { readTeamSettings } from '../../squad/team/team-settings.ts';
import { otherDriver } from '../../substrate/ledger/workspace-lock.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { createHost } from './host-runs.ts';
import { hostUntil } from './host-until.ts';

interface Drive extends StepOptions {
  /** Does what is next; absent: for the team. */
  readonly next?: (workspace: OpenedWorkspace) => Promise<{ readonly did: string; readonly text: string }>;
  /** Looked at between two steps. */
  readonly isOver: (workspace: OpenedWorkspace) => boolean;
}

/**
 * Does what is next for the team until `isOver`, in this process where no service and no engine works here. Returns the exit code of what
 * it hosted. It ends early where only a person can help.
 */
export async function driveTeam(
  context: CommandContext,
  options: JsonOptions,
  { isOver, next, ...step }: Drive,
): Promise<number> {
  const host = createHost(context, { options, besides: 0, counts: () => true });
  let why = '';
  const say = (text: string): void => context.output.problem(plainLine(text, 500));
  // A file that someone edits meanwhile counts from the next command on.
  const settings = await readTeamSettings(await openWorkspace(context));
  const keepFiles = teamFilesKeeper(say, settings);
  const code = await hostUntil(context, host, {
    between: async () => {
      why = '';
      const workspace = bindWorkspace(await openWorkspace(context));
      if (isOver(workspace)) return 'left';
      if (findService(workspace.directory) !== null) return 'later';
      // Before the step: a run that ends meanwhile is seen by the next one.
      const isIdle = host.isIdle() && otherDriver(workspace.directory) === undefined;
      const { did, text } = await (next === undefined ? stepTeam(workspace, { ...step, settings }) : next(workspace));
      if (did !== 'wait') {
        say(text);
        return 'work';
      }
      await keepFiles(workspace);
      if (!isIdle) return 'later';
      why = text;
      return 'left';
    },
  });
  await keepFiles(await openWorkspace(context), { isLast: true });
  if (why !== '') context.output.problem(`Nothing here moves by itself: ${plainLine(why, 500)}.`);
  return code;
}

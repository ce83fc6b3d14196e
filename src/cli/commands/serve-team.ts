import { bindWorkspace, openWorkspace } from '../../squad/open-workspace.ts';
import { teamFilesKeeper } from '../../squad/team/keep-team-files.ts';
import { stepTeam } from '../../squad/team/step-team.ts';
import type { CommandContext } from '../command-context.ts';

/** More in one go would be a fault. */
const MOST_STEPS = 20;

/** Does what is next for the team until it has to wait, and prints that as one line of JSON. */
export async function serveTeam(context: CommandContext): Promise<void> {
  const workspace = bindWorkspace(await openWorkspace(context));
  const said: string[] = [];
  let until: number | undefined;
  for (let left = MOST_STEPS; left > 0; left -= 1) {
    const { did, text, until: when } = await stepTeam(workspace);
    until = when;
    if (did === 'wait') break;
    said.push(text);
  }
  await teamFilesKeeper((text) => void said.push(text))(workspace, { isLast: true });
  context.output.json({ said, until: until ?? null });
}

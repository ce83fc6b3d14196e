import { isSquadError, type SquadError } from '../../model/errors.ts';
import { bindWorkspace, openWorkspace } from '../../squad/open-workspace.ts';
import { teamFilesKeeper } from '../../squad/team/keep-team-files.ts';
import { stepTeam } from '../../squad/team/step-team.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext } from '../command-context.ts';

/** More in one go would be a fault. */
const MOST_STEPS = 20;

function problemLine({ code, message, next }: SquadError): string {
  if (code === 'not-trusted')
    return 'no person has agreed to what its runs start: `squad serve check` shows it and asks';
  return plainLine(`${message}. ${next}`, 500);
}

/** Does what is next for the team until it has to wait, and prints that as one line of JSON. */
export async function serveTeam(context: CommandContext): Promise<void> {
  const workspace = bindWorkspace(await openWorkspace(context));
  const said: string[] = [];
  let until: number | undefined;
  try {
    for (let left = MOST_STEPS; left > 0; left -= 1) {
      const { did, text, until: when } = await stepTeam(workspace);
      until = when;
      if (did === 'wait') break;
      said.push(text);
    }
  } catch (error) {
    if (!isSquadError(error)) throw error;
    // The service shows one line, once.
    return context.output.line(problemLine(error));
  }
  await teamFilesKeeper((text) => void said.push(text))(workspace, { isLast: true });
  context.output.json({ said, until: until ?? null });
}

import { openWorkspace } from '../../squad/open-workspace.ts';
import { recordServe } from '../../squad/serve-settings.ts';
import type { CommandContext } from '../command-context.ts';

/** Records the limits of all runs as the settings say now. Prints only why it could not. */
export async function serveLimits(context: CommandContext): Promise<void> {
  const problem = await recordServe(await openWorkspace(context));
  if (problem !== undefined) context.output.line(problem);
}

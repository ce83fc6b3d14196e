import { checkFolder, sessionError } from '../../squad/sources/session/read-session.ts';
import { sessionRequired } from '../../squad/sources/session/session-required.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';

/** Exit 0 when a run can play the session, else 65. Throws `usage` without a folder. */
export async function sessionCheck(
  context: CommandContext,
  folder: string | undefined,
  options: JsonOptions,
): Promise<void> {
  if (folder === undefined || folder === '') throw sessionRequired();
  const check = await checkFolder(folder, context.host.workingDirectory);
  if (!check.ok) {
    if (options.json !== true) throw sessionError(check);
    const { first: message, problems, next } = check;
    context.output.json({ type: 'session-check', ok: false, folder, message, problems, next });
    context.exit(65);
    return;
  }
  const { id, description, status, roles, tasks, completed } = check.session;
  const found = {
    ...{ type: 'session-check', ok: true, folder, session: id, description, status },
    roles: roles.map(({ name, responsibility, innerLoop }) => ({ name, responsibility, innerLoop })),
    ...{ tasks: tasks.length, completed: completed.length },
  };
  const left = status === 'completed' ? '' : `, ${completed.length} done`;
  printResult(context.output, options, found, [
    `ok  ${plainLine(folder)}`,
    `  ${plainLine(id)}, ${status}: ${plainLine(description)}`,
    `  ${counted(roles.length, 'role')}, ${counted(tasks.length, 'task')}${left}`,
  ]);
}

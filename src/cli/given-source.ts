import { usageError } from '../model/errors.ts';
import { SESSION } from '../model/playbook-name.ts';
import { sessionRequired } from '../squad/sources/session/session-required.ts';
import type { Named } from '../squad/sources/source-of.ts';
import { objectiveTicketSchema, takeTicket } from '../squad/ticket.ts';
import type { CommandContext, RunOptions } from './command-context.ts';
import { printResult } from './output.ts';
import { readArgument } from './read-objective.ts';

/** The folder that `--session` names; undefined: there is no such option. Throws `usage` for none, or one with an objective. */
export function namedFolder(given: string | undefined, { session }: Pick<RunOptions, 'session'>): string | undefined {
  if (session === undefined) return undefined;
  if (session === true || session === '') throw sessionRequired();
  if (given === undefined) return session;
  throw usageError(
    'an objective and --session cannot be given together: the session already contains the objective',
    'Leave out one of them.',
  );
}

/** Reads the session, the ticket or the argument of `squad run`, in this order. Throws `usage` if there is none. */
export async function givenSource(
  context: CommandContext,
  given: string | undefined,
  options: Pick<RunOptions, 'session' | 'madeFor' | 'ticket' | 'playbook'>,
): Promise<Named> {
  const session = namedFolder(given, options);
  if (session !== undefined) return { session, madeFor: options.madeFor };
  if (given === undefined && options.playbook === SESSION) throw sessionRequired();
  if (given === undefined) {
    throw usageError(
      'there is no objective',
      'Say what you want, `squad run "add a login form"`, or name a session: `squad run --session=FOLDER`.',
    );
  }
  const { ticket } = options;
  const ticketed = ticket === undefined ? { argument: given } : await takeTicket(ticket, objectiveTicketSchema);
  return 'argument' in ticketed ? readArgument(context, ticketed.argument) : ticketed;
}

/** Says that nothing is left of a session; false: something is. Exit 0 then. */
export async function showDone(
  { host, output }: CommandContext,
  folder: string,
  options: RunOptions,
): Promise<boolean> {
  const { readSession } = await import('../squad/sources/session/read-session.ts');
  const { session, path } = await readSession(folder, host.workingDirectory).catch(async (error: unknown) => {
    // While a run plays the folder, only that run can continue, and what makes the folder whole is refused.
    await (await import('../squad/folder-runs.ts')).refusePlayed({ host }, { session: folder });
    throw error;
  });
  if (session.status !== 'completed') return false;
  const { completedText } = await import('../squad/sources/session/session-source.ts');
  const found = { type: 'session-completed', session: session.id, folder: path, tasks: session.tasks.length };
  printResult(output, options, found, [completedText(session)]);
  return true;
}

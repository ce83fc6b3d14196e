import { usageError } from '../model/errors.ts';
import { SESSION } from '../model/playbook-name.ts';
import { sessionRequired } from '../model/session-required.ts';
import type { ObjectiveSource } from '../squad.ts';
import { objectiveTicketSchema, takeTicket } from '../squad/ticket.ts';
import type { CommandContext, RunOptions } from './command-context.ts';
import { readArgument } from './read-objective.ts';

/** The folder that `--session` names; undefined: there is no such option. Throws `usage` for none, or one with an objective. */
export function sessionArgument(
  given: string | undefined,
  { session }: Pick<RunOptions, 'session'>,
): string | undefined {
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
  options: Pick<RunOptions, 'session' | 'ticket' | 'playbook'>,
): Promise<ObjectiveSource> {
  const session = sessionArgument(given, options);
  if (session !== undefined) return { session };
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

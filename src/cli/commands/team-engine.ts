import { SquadError } from '../../model/errors.ts';
import { runInTerminal } from '../../substrate/process/run-in-terminal.ts';
import type { CommandContext, TeamPaneOptions } from '../command-context.ts';
import { engineTicketSchema, takeTicket } from '../team/ticket.ts';

/** Runs squad in the engine's pane with these arguments and the environment in the ticket. */
export async function teamEngine(
  { host, exit }: CommandContext,
  args: readonly string[],
  { ticket }: TeamPaneOptions,
): Promise<void> {
  const { environment } = await takeTicket(ticket, engineTicketSchema);
  const program = [host.node, ...process.argv.slice(1, 2), ...args];
  const { code, problem } = await runInTerminal(program, { ...host.environment, ...environment });
  if (problem !== undefined) {
    throw new SquadError({
      code: 'wrong-environment',
      message: `the engine could not be started: ${problem}`,
      next: 'Run `squad doctor`.',
    });
  }
  exit(code ?? 1);
}

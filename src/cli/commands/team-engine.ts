import { SquadError } from '../../model/errors.ts';
import { runInTerminal } from '../../substrate/process/run-in-terminal.ts';
import type { CommandContext, TeamPaneOptions } from '../command-context.ts';
import { engineTicketSchema, takeTicket } from '../team/ticket.ts';

/** What runs in the pane of the engine: squad with these arguments, and with the environment that the ticket holds. */
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

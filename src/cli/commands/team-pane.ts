import { SquadError } from '../../model/errors.ts';
import { runInTerminal } from '../../substrate/system/process/run-in-terminal.ts';
import { ownProgram, type CommandContext } from '../command-context.ts';
import { withParty } from '../mail/open-mail.ts';
import { listenForStop } from '../mail/stop-signal.ts';
import { runPane } from '../team/pane.ts';
import { engineTicketSchema, takeTicket, ticketSchema } from '../../squad/ticket.ts';

/** Runs one member's pane. The ticket names the member, and is removed once read. */
export async function teamPane(context: CommandContext, { ticket: path }: { ticket: string }): Promise<void> {
  const ticket = await takeTicket(path, ticketSchema);
  const { token, address } = ticket;
  const environment = { ...context.host.environment, ...ticket.environment, SQUAD_TOKEN: token, SQUAD_AGENT: address };
  const own = { ...context, host: { ...context.host, environment } };
  const stop = listenForStop();
  const ended = new AbortController();
  stop.aborted.addEventListener('abort', () => ended.abort());
  try {
    await withParty(own, { run: ticket.run }, async (opened, party) => {
      if (party.by !== 'pane') {
        const next = 'Open panes with `squad team`.';
        throw new SquadError({ code: 'bad-input', message: 'this ticket is no pane’s', next });
      }
      try {
        await runPane(own, opened, party, ticket, ended);
      } finally {
        opened.mail.closePane(token);
      }
    });
  } finally {
    stop.stop();
  }
}

/** Runs squad in the engine's pane with these arguments and the environment in the ticket. */
export async function teamEngine(
  { host, exit }: CommandContext,
  args: readonly string[],
  { ticket }: { ticket: string },
): Promise<void> {
  const { environment } = await takeTicket(ticket, engineTicketSchema);
  const program = [...ownProgram(host), ...args];
  const { code, problem } = await runInTerminal(program, {
    kind: 'squad',
    environment: { ...host.environment, ...environment },
  });
  if (problem !== undefined) {
    throw new SquadError({
      code: 'wrong-environment',
      message: `the engine could not be started: ${problem}`,
      next: 'Run `squad doctor`.',
    });
  }
  exit(code ?? 1);
}

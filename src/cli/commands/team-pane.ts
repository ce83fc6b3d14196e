import { SquadError } from '../../model/errors.ts';
import type { CommandContext, TeamPaneOptions } from '../command-context.ts';
import { withParty } from '../mail/open-mail.ts';
import { listenForStop } from '../mail/stop-signal.ts';
import { runPane } from '../team/pane.ts';
import { takeTicket, ticketSchema } from '../team/ticket.ts';

/** What runs in the pane of one member. `squad team` starts it; the ticket says whose pane it is, and is gone once read. */
export async function teamPane(context: CommandContext, { ticket: path }: TeamPaneOptions): Promise<void> {
  const ticket = await takeTicket(path, ticketSchema);
  const { token, address } = ticket;
  const environment = { ...context.host.environment, ...ticket.environment, SQUAD_TOKEN: token, SQUAD_AGENT: address };
  const own = { ...context, host: { ...context.host, environment } };
  const stop = listenForStop();
  const ended = new AbortController();
  stop.aborted.addEventListener('abort', () => ended.abort());
  try {
    await withParty(own, { run: ticket.run }, async (opened, party) => {
      if (party.by !== 'pane') throw noPane();
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

function noPane(): SquadError {
  return new SquadError({
    code: 'bad-input',
    message: 'this ticket is no pane’s',
    next: 'Open panes with `squad team`.',
  });
}

import { compose } from '../../compose.ts';
import { SquadError } from '../../model/errors.ts';
import { openRepository } from '../../substrate/git/repository.ts';
import { openLedger } from '../../substrate/ledger/index.ts';
import type { CommandContext, LogOptions } from '../command-context.ts';
import { renderLedgerEvent } from '../render/log-line.ts';
import { join } from 'node:path';

export async function log(
  { host, output }: CommandContext,
  name: string | undefined,
  options: LogOptions,
): Promise<void> {
  const { git, clock } = compose(host);
  const repository = await openRepository(git, host.workingDirectory);
  const ledger = openLedger(join(repository.root, '.squad'), { clock, readOnly: true });
  try {
    const run = name === undefined ? undefined : ledger.run(name);
    if (name !== undefined && run === undefined) {
      const known = ledger.runs().map((row) => row.name);
      throw new SquadError({
        code: 'usage',
        message: `no run is called ${name}`,
        next:
          known.length === 0 ? 'There is none yet in this repository.' : `There is: ${known.slice(-10).join(', ')}.`,
      });
    }
    const names = new Map(ledger.runs().map((row) => [row.id, row.name]));
    const where = { ...(run && { stream: run.id }), ...(options.after === undefined ? {} : { after: options.after }) };
    const events = ledger.events({ ...where, ...(options.limit === undefined ? {} : { limit: options.limit }) });
    for (const event of events) {
      if (options.json === true) output.json(event);
      else output.line(renderLedgerEvent(event, names.get(event.stream) ?? event.stream));
    }
  } finally {
    ledger.close();
  }
}

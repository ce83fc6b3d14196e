import { compose } from '../../compose.ts';
import { unknownRun } from '../../model/unknown-name.ts';
import { openCheckout } from '../../substrate/git/repository.ts';
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
  const repository = await openCheckout(git, host.workingDirectory);
  const ledger = openLedger(join(repository.root, '.squad'), { clock, readOnly: true });
  try {
    const run = name === undefined ? undefined : ledger.run(name);
    if (name !== undefined && run === undefined) {
      throw unknownRun(
        name,
        ledger.runs().map((row) => row.name),
      );
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

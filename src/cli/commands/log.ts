import { unknownRun } from '../../model/unknown-name.ts';
import { openLedger } from '../../substrate/ledger/index.ts';
import type { CommandContext, LogOptions } from '../command-context.ts';
import { openWorkspace } from '../../squad/open-run.ts';
import { renderLedgerEvent } from '../render/log-line.ts';

export async function log(context: CommandContext, name: string | undefined, options: LogOptions): Promise<void> {
  const { output } = context;
  const { directory, composition } = await openWorkspace(context);
  const ledger = openLedger(directory, { clock: composition.clock, readOnly: true });
  try {
    const names = new Map(ledger.runs().map((row) => [row.id, row.name]));
    const run = name === undefined ? undefined : ledger.run(name);
    if (name !== undefined && run === undefined) throw unknownRun(name, [...names.values()]);
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

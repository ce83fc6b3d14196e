import type { CommandContext, JsonOptions } from '../command-context.ts';
import { openRun, readLedger } from '../../squad/open-run.ts';
import { renderStatus } from '../render/status-board.ts';
import { mailOf, statusOf } from '../../read-model/status.ts';
import { listKeptWork } from '../../substrate/git/repository.ts';

export async function status(context: CommandContext, run: string | undefined, options: JsonOptions): Promise<void> {
  const opened = await openRun(context, run);
  const { reading, repository, composition, now } = opened;
  const { id, name } = reading.row;
  const mail = readLedger(opened, (ledger) => mailOf(ledger, id));
  const kept = await listKeptWork(composition.git, repository.root, name);
  const found = statusOf(reading, mail, now, kept);
  if (options.json === true) context.output.json(found);
  else context.output.line(renderStatus(found, reading.board.tasks, now));
}

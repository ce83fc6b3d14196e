import type { CommandContext } from '../command-context.ts';
import { openRun, readLedger } from '../open-run.ts';
import { renderStatus } from '../render/status-board.ts';
import { mailOf } from '../../read-model/mail-reading.ts';
import { statusOf } from '../../read-model/status.ts';
import { listKeptWork } from '../../substrate/git/repository.ts';

export async function status(
  context: CommandContext,
  run: string | undefined,
  options: { json?: boolean },
): Promise<void> {
  const { reading, directory, repository, composition, now } = await openRun(context, run);
  const { id } = reading.row;
  const mail = readLedger(directory, composition, (ledger) => mailOf(ledger, id));
  const kept = await listKeptWork(composition.git, repository.root, reading.row.name);
  const found = statusOf(reading, mail, now, kept);
  if (options.json === true) context.output.json(found);
  else context.output.line(renderStatus(found, titlesOf(reading.board.tasks), now));
}

function titlesOf(tasks: ReadonlyMap<string, { readonly task: { readonly title: string } }>): Map<string, string> {
  return new Map([...tasks].map(([id, { task }]) => [id, task.title]));
}

import { redactorOf } from '../model/redaction/redactor.ts';
import { openPager, type Pager } from '../substrate/process/run-pager.ts';
import type { CommandContext, PagedOptions } from './command-context.ts';

/** Prints lines: at a terminal through `$PAGER` or `less`, like git, and anywhere else as they are. */
export async function printPaged(
  { host, output }: CommandContext,
  { pager: wanted }: PagedOptions,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const { environment } = host;
  const pager = wanted === false || output.columns() === undefined ? undefined : await startPager(environment);
  if (pager === undefined) {
    for await (const line of lines) output.line(line);
    return;
  }
  const redactor = redactorOf(environment, []);
  try {
    for await (const line of lines) if (!(await pager.write(`${redactor.text(line)}\n`))) break;
  } finally {
    await pager.close();
  }
}

async function startPager(environment: CommandContext['host']['environment']): Promise<Pager | undefined> {
  // As in git, `cat` and an empty value mean none.
  const command = (environment['PAGER'] ?? 'less').trim();
  if (command === '' || command === 'cat') return undefined;
  // Quit if it fits on one screen, colours, and leave the text on the screen: what git sets.
  return openPager(command.split(/\s+/), { LESS: 'FRX', LV: '-c', ...environment });
}

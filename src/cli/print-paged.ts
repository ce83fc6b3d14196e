import { redactorOf } from '../model/redaction/redactor.ts';
import { runPager } from '../substrate/system/process/run-pager.ts';
import type { CommandContext, PagedOptions } from './command-context.ts';

/** Prints lines: at a terminal through `$PAGER` or `less`, like git, and anywhere else as they are. */
export async function printPaged(
  { host, output }: CommandContext,
  { pager: wanted }: PagedOptions,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const { environment } = host;
  const pager = wanted === false || output.columns() === undefined ? [] : pagerOf(environment);
  const redactor = redactorOf(environment, []);
  const shown = async function* (): AsyncGenerator<string> {
    for await (const line of lines) yield `${redactor.text(line)}\n`;
  };
  // Quit if it fits on one screen, colours, and leave the text on the screen: what git sets.
  const variables = { LESS: 'FRX', LV: '-c', ...environment };
  if (pager.length > 0 && (await runPager(pager, variables, shown()))) return;
  for await (const line of lines) output.line(line, 'exact');
}

/** Empty: none. */
function pagerOf(environment: CommandContext['host']['environment']): readonly string[] {
  const command = (environment['PAGER'] ?? 'less').trim();
  // As in git, `cat` and an empty value mean none.
  return command === '' || command === 'cat' ? [] : command.split(/\s+/);
}

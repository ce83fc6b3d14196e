import { readStatus } from '../../squad/status.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { renderStatus } from '../render/status-board.ts';

/** Not by way of a squad, which brings its runtimes along. */
export async function status(context: CommandContext, run: string | undefined, options: JsonOptions): Promise<void> {
  const { output } = context;
  const found = await readStatus(context, run);
  if (options.json === true) output.json(found);
  else output.line(renderStatus(found, Date.now()));
}

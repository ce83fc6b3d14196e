import { readStatus } from '../../squad/status.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { renderStatus } from '../render/status-board.ts';

export async function status(context: CommandContext, run: string | undefined, options: JsonOptions): Promise<void> {
  const { status: found, reading, now } = await readStatus(context, run);
  if (options.json === true) context.output.json(found);
  else context.output.line(renderStatus(found, reading.board.tasks, now));
}

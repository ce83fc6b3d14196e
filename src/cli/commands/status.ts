import { squadOn } from '../../squad.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { renderStatus } from '../render/status-board.ts';

export async function status(
  { host, output }: CommandContext,
  run: string | undefined,
  options: JsonOptions,
): Promise<void> {
  const found = await squadOn(host).status(run);
  if (options.json === true) output.json(found);
  else output.line(renderStatus(found, Date.now()));
}

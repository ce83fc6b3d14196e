import { readBacklog } from '../../squad/team/list-requests.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { renderBacklog } from '../render/backlog-table.ts';

/** Lists the backlog, the most urgent item first. */
export async function backlog(context: CommandContext, { json }: JsonOptions): Promise<void> {
  const { output } = context;
  const items = await readBacklog(context);
  if (json === true) {
    for (const item of items) output.json({ type: 'backlog-item', ...item });
    return;
  }
  for (const line of renderBacklog(items, { columns: output.columns(), style: output.style })) output.line(line);
}

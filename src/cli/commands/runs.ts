import { listRuns } from '../../squad/runs.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { renderRuns } from '../render/runs-table.ts';

export async function runs(context: CommandContext, options: JsonOptions): Promise<void> {
  const { output } = context;
  const all = await listRuns(context);
  if (options.json === true) {
    for (const run of all) output.json({ type: 'run', ...run });
    return;
  }
  for (const line of renderRuns(all, { now: Date.now(), columns: output.columns(), style: output.style })) {
    output.line(line);
  }
}

import { listRuns } from '../../squad/runs.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { renderRuns } from '../render/runs-table.ts';

export async function runs({ host, output }: CommandContext, options: JsonOptions): Promise<void> {
  const all = await listRuns(host);
  if (options.json === true) {
    for (const run of all) output.json({ type: 'run', ...run });
    return;
  }
  for (const line of renderRuns(all, { now: Date.now(), columns: output.columns(), style: output.style })) {
    output.line(line);
  }
}

import { badInput } from '../../model/errors.ts';
import { listRuns, readLimitsOfAll, readRunsSince } from '../../squad/runs.ts';
import { sharedLimitLines } from '../../view/shared-limits.ts';
import { plainLine } from '../../text/plain-text.ts';
import { parseSince } from '../../text/since.ts';
import type { CommandContext, Options } from '../command-context.ts';
import type { OfPool } from '../pool/pool-flags.ts';
import { movedNotice } from '../moved-notice.ts';
import { nightLine } from '../render/night-line.ts';
import { renderRuns } from '../render/runs-table.ts';

export async function runs(context: CommandContext, options: Options<'runs'> & OfPool): Promise<void> {
  if (options.pool !== undefined) return (await import('../pool/pool.ts')).runsOfPool(context, options);
  if (options.since !== undefined) return runsSince(context, options.since, options.json === true);
  const { output } = context;
  const all = await listRuns(context);
  const moved = await movedNotice(context);
  if (options.json === true) {
    if (moved !== undefined) output.json({ type: 'moved', ...moved.about });
    for (const run of all) output.json({ type: 'run', ...run });
    return;
  }
  const now = Date.now();
  const limits = await readLimitsOfAll(context);
  for (const line of [
    ...(moved?.lines ?? []),
    ...renderRuns(all, { now, columns: output.columns(), style: output.style }),
    ...(limits === undefined ? [] : sharedLimitLines(limits, now)),
  ]) {
    output.line(line);
  }
}

async function runsSince(context: CommandContext, text: string, json: boolean): Promise<void> {
  const { output } = context;
  const now = Date.now();
  const since = parseSince(text, now);
  const example = 'Give a time that has been: `squad runs --since 18:00`, `--since 2h` or `--since 2026-11-27`.';
  if (since === undefined) throw badInput(`${plainLine(text, 80)} is no time`, example);
  if (since > now) throw badInput(`${plainLine(text, 80)} is still to come`, example);
  const night = await readRunsSince(context, since);
  if (json) return output.json({ type: 'runs-since', ...night });
  output.line(nightLine(night, now));
}

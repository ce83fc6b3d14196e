import { usageError } from '../../model/errors.ts';
import { readCheckedStatus } from '../../squad/status.ts';
import { movedNotice } from '../moved-notice.ts';
import { keptNotice } from '../tidying.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { onScreen } from '../render/screen.ts';
import { renderStatus, STATUS_COLOURS } from '../render/status-board.ts';

/** Not by way of a squad, which brings its runtimes along. */
export async function status(
  context: CommandContext,
  run: string | undefined,
  options: Options<'status'>,
): Promise<void> {
  const { wait, watch, ...shown } = options;
  if (watch === true && wait !== undefined)
    throw usageError('--watch and --wait cannot be given together', 'Give one of them.');
  if (watch === true) return (await import('./watch.ts')).watch(context, run, shown);
  const { output } = context;
  const { status: found, damage } = await read(context, run, wait);
  const { lines, ...kept } = await keptNotice(context);
  const moved = await movedNotice(context);
  if (options.json === true) output.json({ ...found, ...kept, ...(moved === undefined ? {} : { moved: moved.about }) });
  else {
    for (const line of moved?.lines ?? []) output.line(line);
    output.line(onScreen(renderStatus(found, Date.now(), lines).split('\n'), output, STATUS_COLOURS));
  }
  // Damage is reported only after the readable part was shown.
  if (damage !== undefined) throw damage;
}

async function read(context: CommandContext, run: string | undefined, wait: number | undefined) {
  if (wait === undefined) return readCheckedStatus(context, run);
  return (await import('../../squad/wait-for-change.ts')).waitForChange(context, run, { ms: wait });
}

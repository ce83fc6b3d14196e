import { readCheckedStatus } from '../../squad/status.ts';
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
  if (options.watch === true) return (await import('./watch.ts')).watch(context, run, options);
  const { output } = context;
  const { status: found, damage } = await readCheckedStatus(context, run);
  const { lines, ...kept } = await keptNotice(context);
  if (options.json === true) output.json({ ...found, ...kept });
  else output.line(onScreen(renderStatus(found, Date.now(), lines).split('\n'), output, STATUS_COLOURS));
  // Damage is reported only after the readable part was shown.
  if (damage !== undefined) throw damage;
}

import { packRuns } from '../../squad/moving/pack.ts';
import { byteCount } from '../../text/byte-count.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';

/** Writes the runs of this repository into a file that `squad unpack` takes over elsewhere. */
export async function pack(context: CommandContext, file: string, options: JsonOptions): Promise<void> {
  const packed = await packRuns(context, file);
  const { path, bytes, runs, lost, hasCopies } = packed;
  printResult(context.output, options, { type: 'runs-packed', ...packed }, [
    `${counted(runs.length, 'run')}, ${byteCount(bytes)} in ${plainLine(path)}`,
    ...lost.map(
      ({ run, attempt }) => `lost  the work of ${attempt} in ${run}: its folder is gone, so the turn is done again`,
    ),
    ...(hasCopies ? ['It has copies of ignored files, such as `.env`: keep it as you keep those.'] : []),
    `In a clone of this repository, elsewhere: squad unpack ${shellWord(plainLine(path, Infinity))}`,
    ...(runs.some(({ unfinished }) => unfinished) ? ['Continue each run in one place only.'] : []),
  ]);
}

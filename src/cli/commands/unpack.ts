import { unpackRuns } from '../../squad/moving/unpack.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';

/** Takes over the runs of a pack. */
export async function unpack(context: CommandContext, file: string, options: JsonOptions): Promise<void> {
  const unpacked = await unpackRuns(context, file);
  const { path, runs } = unpacked;
  const left = runs.filter(({ unfinished }) => unfinished).map(({ name }) => name);
  printResult(context.output, options, { type: 'runs-unpacked', ...unpacked }, [
    `took over ${counted(runs.length, 'run')} from ${plainLine(path)}: ${runs.map(({ name }) => name).join(', ')}`,
    ...(left.length === 0
      ? []
      : ['squad asks for your consent before it continues them:', ...left.map((name) => `  squad resume ${name}`)]),
  ]);
}

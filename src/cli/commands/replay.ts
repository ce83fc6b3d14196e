import { replay as replayRun, type Replay } from '../../squad/replay.ts';
import { counted } from '../../text/counted.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';

/** Differences that are printed for people. */
const MOST_SHOWN = 20;

/** Exit 0 if this version decides what the run decided, else 1. */
export async function replay(
  { output, host, exit }: CommandContext,
  run: string | undefined,
  options: JsonOptions,
): Promise<void> {
  const found = await replayRun({ host }, run);
  if (found.differences.length > 0) exit(1);
  printResult(output, options, { type: 'replayed', ...found }, linesOf(found));
}

function linesOf({ name, steps, differences }: Replay): string[] {
  const first = `${name}: ${counted(steps, 'step')} decided again, ${counted(differences.length, 'difference')}`;
  const more = differences.length - MOST_SHOWN;
  return [
    first,
    ...differences
      .slice(0, MOST_SHOWN)
      .flatMap(({ seq, step, was, now }) => [
        `event ${seq}, ${step === 'next' ? 'what comes next' : 'what it changed'}`,
        ...was.map((line) => `  was   ${line}`),
        ...now.map((line) => `  now   ${line}`),
      ]),
    ...(more > 0 ? [`and ${more} more; all of them: \`squad replay ${name} --json\``] : []),
  ];
}

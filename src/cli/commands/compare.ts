import { usageError } from '../../model/errors.ts';
import { exitCodeOf } from '../../model/run-state.ts';
import { compare as compareIn } from '../../squad/compare.ts';
import type { DriveOptions } from '../../squad/run.ts';
import type { RunEnd, RunningRun } from '../../view/running-run.ts';
import type { Comparison } from '../../view/comparison.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { newRunOf } from '../consent.ts';
import { handleInterrupts } from '../interrupts.ts';
import { printResult } from '../output.ts';
import { readArgument } from '../read-objective.ts';
import { renderComparison } from '../render/comparison-table.ts';
import { showRun } from './show-run.ts';

/** More runs of one objective would be a mistake in typing. */
const MOST_TIMES = 50;

/** Plays an objective with two sets of prompts and prints the table. Exit 0 once all runs were made, however they ended. */
export async function compare(context: CommandContext, given: string, options: Options<'compare'>): Promise<void> {
  const { host, output, exit } = context;
  const { prompts = [], times = 1, replan, json } = options;
  const [a, b, ...more] = prompts;
  if (a === undefined || b === undefined || more.length > 0) {
    throw usageError(
      'squad compare takes --prompts twice',
      'Name two folders, or one and squad’s own prompts: `--prompts my-prompts --prompts shipped`.',
    );
  }
  if (times < 1 || times > MOST_TIMES) {
    throw usageError(`--times ${times} is not between 1 and ${MOST_TIMES}`, 'Give how many runs each side gets.');
  }
  const objective = await readArgument(context, given);
  const player = createPlayer(context, json === true);
  let isSaid = json === true;
  // Once all is checked, so that nothing is promised before a refusal.
  const play: typeof player.play = async (about, start) => {
    if (!isSaid) output.problem(`${times * 2} runs, one after another; Ctrl-C ends them and shows what there is.`);
    isSaid = true;
    return player.play(about, start);
  };
  try {
    const found = await compareIn({ host }, objective, {
      ...newRunOf(context, options),
      ...{ folders: [a, b], times, replan, play, stopped: player.stopped },
    });
    printResult(output, options, found, [
      '',
      ...renderComparison(found, { columns: output.columns(), style: output.style }),
    ]);
    exit(codeOf(found, player.signal()));
  } finally {
    player.close();
  }
}

/** Plays one run after another, and hears Ctrl-C during and between them. */
function createPlayer(context: CommandContext, json: boolean) {
  const { output } = context;
  let running: RunningRun | undefined;
  let end: ((run: RunningRun) => void) | undefined;
  const drain = (run: RunningRun): void => run.drain('Ctrl-C');
  const interrupts = handleInterrupts(
    output,
    {
      drain: () => {
        end = drain;
        if (running !== undefined) drain(running);
      },
      cancel: async (reason) => {
        end = (run) => void run.cancel(reason);
        await running?.cancel(reason);
      },
      kill: async () => running?.kill(),
    },
    { name: 'the run' },
  );
  return {
    play: async (about: string, start: (drive: DriveOptions) => Promise<RunningRun>): Promise<RunEnd> => {
      if (json) return follow(await start({}), async (run) => run.done);
      output.line(`\n${output.style('bold', about)}`);
      const show = await showRun({ ...context, exit: () => undefined }, { plain: true });
      return follow(await start({ onEvent: show.onEvent }), show.wait);
    },
    stopped: (): string | undefined => (end === undefined ? undefined : 'a person ended them'),
    signal: () => interrupts.signal(),
    close: () => interrupts.stop(),
  };

  async function follow(run: RunningRun, wait: (run: RunningRun) => Promise<RunEnd>): Promise<RunEnd> {
    running = run;
    end?.(run);
    try {
      return await wait(run);
    } finally {
      running = undefined;
    }
  }
}

function codeOf({ stopped }: Comparison, signal: NodeJS.Signals | undefined): number {
  if (signal !== undefined) return exitCodeOf('interrupted', signal);
  return stopped === null ? 0 : 1;
}

import type { Named } from '../../squad/sources/source-of.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import { exitCodeOf } from '../../model/run-state.ts';
import { isOver } from '../../view/read-run.ts';
import { isSwept, unfinishedOf } from '../../view/unfinished.ts';
import { openRun, type OpenedRun } from '../../squad/open-run.ts';
import { withLedger } from '../../squad/open-workspace.ts';
import { dropQueued, readQueue } from '../../squad/queue.ts';
import { endOfRun } from '../../squad/ended-run.ts';
import { squadOn } from '../../squad/squad.ts';
import { otherDriver, readLockHolder } from '../../substrate/ledger/workspace-lock.ts';
import type { CommandContext, ResumeOptions, RunOptions } from '../command-context.ts';
import { handleInterrupts, type Interrupts } from '../interrupts.ts';
import { submitHere } from './add.ts';
import { printEnd } from './show-run.ts';
import { showEnd, watchEngine } from './watch.ts';

const LOOK_MS = 500;
/** An engine that has just ended may hand its runs over to one in the background. */
const FREE_LOOKS = 3;
/** Others may be faster, but not for ever. */
const TRIES = 10;

/** Continues a run in this process. */
type Resume = (context: CommandContext, runId: string, options: ResumeOptions) => Promise<void>;

/** A run beside an engine that is at work: puts it into the queue, and shows it until it ends, as if this terminal drove it. */
export async function handOver(
  context: CommandContext,
  objective: Named,
  options: RunOptions,
  resume: Resume,
): Promise<void> {
  const { output } = context;
  const attended = options.json !== true && process.stdin.isTTY && process.stderr.isTTY;
  const { runId, name } = await submitHere(context, objective, options, attended);
  const { directory } = await openRun(context, runId);
  const pid = readLockHolder(directory)?.pid;
  if (options.json === true)
    output.json({ type: 'run-queued', runId, name, known: false, place: await placeOf(context, runId) });
  else
    output.problem(
      `${name} is queued: the engine at work here (process ${pid ?? 'unknown'}) takes it when it has a free place.`,
    );
  if (options.detach === true) return;
  const { runId: _runId, playbook: _playbook, detach: _detach, ...drive } = options;
  for (let left = TRIES; await followQueued(context, runId, name, options); left -= 1) {
    output.problem(`No engine works here any more: this terminal takes ${name} over.`);
    try {
      return await resume(context, runId, drive);
    } catch (error) {
      // One in the background was faster.
      const isBusy = isSquadError(error) && error.code === 'workspace-busy';
      if (!isBusy || left === 0) throw error;
    }
  }
}

async function placeOf(context: CommandContext, runId: string): Promise<number | null> {
  return (await readQueue(context)).findIndex((run) => run.runId === runId) + 1 || null;
}

/** Shows the run while any engine drives it. True: none does, and it can move. */
async function followQueued(
  context: CommandContext,
  runId: string,
  name: string,
  options: RunOptions,
): Promise<boolean> {
  const interrupts = endBySignal(context, runId, name);
  try {
    let free = 0;
    for (;;) {
      const opened = await openRun(context, runId);
      const { reading, now, composition, directory } = opened;
      if (reading.driven) {
        free = 0;
        if (await show(context, opened, options)) continue;
        context.output.problem(`${name} continues: \`squad watch ${name}\`.`);
        return false;
      }
      const signal = interrupts.signal();
      const found = unfinishedOf(reading, now);
      const moves = found !== undefined && isSwept(found);
      if (isOver(reading) || !moves || signal !== undefined) {
        await end(context, opened, options, signal);
        return false;
      }
      const isFree = otherDriver(directory) === undefined;
      free = isFree ? free + 1 : 0;
      if (free >= FREE_LOOKS) return true;
      await composition.clock.sleep(LOOK_MS);
    }
  } finally {
    interrupts.stop();
  }
}

/** Until its engine has ended. False: the person, or the reader of the lines, has left. */
async function show(context: CommandContext, opened: OpenedRun, options: RunOptions): Promise<boolean> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  const about = { options, leave, left: left.signal, interrupting: 'stop this run, state saved' };
  const end = await withLedger(opened, 'read', async (ledger) => watchEngine(context, opened, ledger, about));
  return end !== undefined;
}

/** Prints how the run stands, with the exit code of that. */
async function end(
  context: CommandContext,
  opened: OpenedRun,
  options: RunOptions,
  signal: NodeJS.Signals | undefined,
): Promise<void> {
  const ended = await endOfRun(opened, opened.reading);
  if (signal === undefined) return withLedger(opened, 'read', (ledger) => showEnd(context, ended, ledger, options));
  printEnd(context, ended, signal, options.json === true);
  context.exit(exitCodeOf('interrupted', signal));
}

/** A signal is about the run of this terminal alone, wherever it is driven. */
function endBySignal(context: CommandContext, runId: string, name: string): Interrupts {
  const squad = squadOn(context.host);
  const { output } = context;
  const act = async (drain: boolean): Promise<void> => {
    const { reading } = await openRun(context, runId);
    if (reading.segments.length === 0) {
      await dropQueued(context, runId);
      output.problem(`${name} is out of the queue. \`squad resume ${name}\` starts it all the same.`);
    } else if (drain) await squad.intervene(runId, { verb: 'drain' });
    else await squad.stop(runId);
  };
  return handleInterrupts(
    output,
    {
      drain: () => void act(true).catch((error: unknown) => output.problem(errorText(error))),
      cancel: async () => act(false),
      kill: async () => act(false),
    },
    { name: 'the run' },
  );
}

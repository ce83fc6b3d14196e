import type { RunningRun } from '../../view/running-run.ts';
import { createSystemClock } from '../../substrate/system/clock/system-clock.ts';
import { exitCodeOf } from '../../model/run-state.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import { listUnfinished, runsToSweep, type Unfinished } from '../../view/unfinished.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
import type { CommandContext, ResumeOptions } from '../command-context.ts';
import { priorityRank } from '../../model/priority.ts';
import { plainLine } from '../../text/plain-text.ts';
import { errorLine } from '../error-line.ts';
import { handleInterrupts } from '../interrupts.ts';
import { squadOn } from '../../squad/squad.ts';
import { openWorkspace, withLedger } from '../../squad/open-workspace.ts';
import { recordServe } from '../../squad/serve-settings.ts';
import { isAgreed } from '../../squad/run-consent.ts';
import type { Output } from '../output.ts';
import { showRun } from './show-run.ts';

/**
 * Resumes all runs here that need an engine, until each ends or waits for a usage limit; with `every` (ms), until a signal.
 * Exit 1 if a run failed or could not be resumed, 0 if there was nothing to do, 130 or 143 after a signal.
 */
export async function sweep(context: CommandContext, options: ResumeOptions): Promise<void> {
  await takeLimits(context);
  return sweepAll(context, options);
}

async function sweepAll(context: CommandContext, options: ResumeOptions): Promise<void> {
  const { output } = context;
  const hosted = new Map<string, RunningRun>();
  const ending = new AbortController();
  let requested: End | undefined;
  const all = (act: End) => {
    requested = act;
    return Promise.all([...hosted.values()].map(act)).then(() => undefined);
  };
  const cut = async (act: End): Promise<void> => {
    ending.abort();
    return all(act);
  };
  const interrupts = handleInterrupts(
    output,
    {
      drain: () => void cut((run) => run.drain('Ctrl-C')),
      cancel: async (reason) => cut(async (run) => run.cancel(reason)),
      kill: async () => all(async (run) => run.kill()),
    },
    { name: 'the runs' },
  );
  const taken = new Set<string>();
  const broken = new Map<string, { times: number; until: number }>();
  const clock = createSystemClock();
  const ended: Ended[] = [];
  const running: Promise<void>[] = [];
  let skipped = 0;
  const startAttempt = async (run: Unfinished, onBegun: () => void): Promise<void> => {
    taken.add(run.runId);
    const exitCode = await host(context, run, { options, hosted, requested: () => requested, onBegun });
    if (exitCode === SKIPPED) skipped += 1;
    else if (exitCode !== undefined) ended.push({ runId: run.runId, name: run.name, exitCode });
    // A run that cannot be resumed is tried less and less often.
    const times = (broken.get(run.runId)?.times ?? 0) + 1;
    if (exitCode === SKIPPED || (exitCode !== undefined && exitCode >= 65))
      broken.set(run.runId, { times, until: clock.monotonic() + 60_000 * 2 ** times });
    taken.delete(run.runId);
  };
  try {
    do {
      for (const run of await findRuns(context, taken)) {
        if ((broken.get(run.runId)?.until ?? 0) > clock.monotonic()) continue;
        const begun = Promise.withResolvers<void>();
        running.push(startAttempt(run, begun.resolve).finally(begun.resolve));
        // The next run has a lower priority or is younger, so its turns do not start first.
        await begun.promise;
      }
      // A repeated sweep does not wait for the slowest run.
      if (options.every !== undefined) await clock.sleep(options.every, ending.signal);
    } while (options.every !== undefined && !ending.signal.aborted);
    await Promise.all(running);
  } finally {
    interrupts.stop();
  }
  sayEnd(output, options, { ended, skipped });
  const hasFailed = ended.some(({ exitCode }) => exitCode === 1 || exitCode >= 65);
  const signal = interrupts.signal();
  context.exit(exitCodeOf(hasFailed ? 'failed' : signal === undefined ? 'done' : 'interrupted', signal));
}

/** The files may allow more today than when the runs began to wait. */
async function takeLimits(context: CommandContext): Promise<void> {
  const problem = await recordServe(await openWorkspace(context));
  if (problem !== undefined) context.output.problem(problem);
}

function sayEnd(
  output: Output,
  { json }: ResumeOptions,
  { ended, skipped }: { readonly ended: readonly Ended[]; readonly skipped: number },
): void {
  if (json === true) return output.json({ type: 'sweep-ended', at: Date.now(), runs: ended });
  if (ended.length > 0 || skipped > 0) return;
  output.line('No run needs an engine: each is over, running, waiting or paused.');
}

/** Ends a run. After a signal it also applies to runs that are just starting. */
type End = (run: RunningRun) => unknown;

interface Ended {
  readonly runId: string;
  readonly name: string;
  readonly exitCode: number;
}

/** Runs without an engine. None while another process has the workspace. */
async function findRuns(context: CommandContext, taken: ReadonlySet<string>): Promise<Unfinished[]> {
  const workspace = await openWorkspace(context);
  const { directory, composition } = workspace;
  if (taken.size === 0 && probeLock(directory) !== null) return [];
  const unfinished = await withLedger(workspace, 'read', (ledger) =>
    listUnfinished(ledger, null, composition.clock.now()),
  );
  return runsToSweep(unfinished).filter(({ runId }) => !taken.has(runId));
}

/** In place of an exit code: no person has agreed to the run, so it did not start. */
const SKIPPED = 'skipped';

/** The exit code; undefined if a signal came before the run started. */
async function host(
  context: CommandContext,
  { runId, name, why, priority }: Unfinished,
  {
    options,
    hosted,
    requested,
    onBegun,
  }: { options: ResumeOptions; hosted: Map<string, RunningRun>; requested: () => End | undefined; onBegun: () => void },
): Promise<number | typeof SKIPPED | undefined> {
  const { output } = context;
  if (requested() !== undefined) return undefined;
  if (!(await isAgreed(await openWorkspace(context), runId))) {
    output.problem(
      `${name} is skipped: no person has agreed to it on this machine. See it with \`squad resume ${name}\`.`,
    );
    return SKIPPED;
  }
  output.problem(`${name}: ${why}${priorityText(priority)}`);
  const named: Output = options.json === true ? output : { ...output, line: (text) => output.line(prefix(name, text)) };
  const show = await showRun({ ...context, output: named, exit: () => undefined }, { ...options, plain: true });
  try {
    const running = await squadOn(context.host).resume(runId, { patienceMs: 0, onEvent: show.onEvent });
    hosted.set(runId, running);
    onBegun();
    const [end] = await Promise.all([show.wait(running), requested()?.(running)]);
    return end.exitCode;
  } catch (error) {
    if (options.json === true) output.json({ ...errorLine(error), run: name });
    output.problem(`${name}: ${errorText(error)}`);
    return isSquadError(error) ? error.exitCode : 1;
  } finally {
    hosted.delete(runId);
  }
}

function priorityText(priority: string | undefined): string {
  if (priority === undefined) return '';
  const text = plainLine(priority, 40);
  return priorityRank(priority) === undefined ? ` (priority “${text}”, which counts as medium)` : ` (priority ${text})`;
}

function prefix(name: string, text: string): string {
  return text.replaceAll(/^(?=.)/gm, `${name}  `);
}

import type { EnginePorts, RunningRun } from '../../engine.ts';
import { compose } from '../../compose.ts';
import { exitCodeOf } from '../../model/exit-code.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import { isSwept, listUnfinished, type Unfinished } from '../../read-model/unfinished.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
import type { CommandContext, ResumeOptions } from '../command-context.ts';
import { errorLine } from '../error-line.ts';
import { handleInterrupts } from '../interrupts.ts';
import { bringUpToDate } from '../../substrate/ledger/index.ts';
import { openWorkspace, readLedger } from '../open-run.ts';
import type { Output } from '../output.ts';
import { showRun } from './show-run.ts';

/**
 * Takes up every run of this repository that has no engine and needs one, side by side, and waits for their ends; a usage
 * limit is not waited for. With `every` (ms) it looks again and again until it is told to end. Exit 1 where one of them failed
 * or could not be driven; nothing to do is no failure. 130 or 143 after a signal.
 */
export async function sweep(context: CommandContext, options: ResumeOptions): Promise<void> {
  const { output } = context;
  const hosted = new Map<string, RunningRun>();
  const ending = new AbortController();
  let told: End | undefined;
  const all = (act: End) => {
    told = act;
    return Promise.all([...hosted.values()].map(act)).then(() => undefined);
  };
  const interrupts = handleInterrupts(
    output,
    {
      drain: () => {
        ending.abort();
        void all((run) => run.drain('Ctrl-C'));
      },
      cancel: async (reason) => {
        ending.abort();
        return all(async (run) => run.cancel(reason));
      },
      kill: async () => all(async (run) => run.kill()),
    },
    'the runs',
  );
  const taken = new Set<string>();
  const broken = new Map<string, { times: number; until: number }>();
  const now = (): number => compose(context.host).clock.monotonic();
  const ended: Ended[] = [];
  const running: Promise<void>[] = [];
  const startAttempt = async (run: Unfinished): Promise<void> => {
    taken.add(run.runId);
    const exitCode = await host(context, run, { options, hosted, told: () => told });
    if (exitCode !== undefined) ended.push({ runId: run.runId, name: run.name, exitCode });
    // What cannot be driven is not tried again at every look.
    const times = (broken.get(run.runId)?.times ?? 0) + 1;
    if (exitCode !== undefined && exitCode >= 65) broken.set(run.runId, { times, until: now() + 60_000 * 2 ** times });
    taken.delete(run.runId);
  };
  try {
    do {
      for (const run of await findRuns(context, taken)) {
        if ((broken.get(run.runId)?.until ?? 0) <= now()) running.push(startAttempt(run));
      }
      // Each is heard of when it ends; a sweep that goes on must not wait for the slowest.
      if (options.every !== undefined) await compose(context.host).clock.sleep(options.every, ending.signal);
    } while (options.every !== undefined && !ending.signal.aborted);
    await Promise.all(running);
  } finally {
    interrupts.stop();
  }
  if (options.json === true) output.json({ type: 'sweep-ended', at: Date.now(), runs: ended });
  else if (ended.length === 0) output.line('Nothing to take up: every run is over, driven, waiting, or held back.');
  const bad = ended.map(({ exitCode }) => exitCode).filter((code) => code === 1 || code >= 65);
  const signal = interrupts.signal();
  context.exit(exitCodeOf(bad.length > 0 ? 'failed' : signal === undefined ? 'done' : 'interrupted', signal));
}

/** What ends every run, once somebody wants that: those too that are being taken up at that moment. */
type End = (run: RunningRun) => unknown;

interface Ended {
  readonly runId: string;
  readonly name: string;
  readonly exitCode: number;
}

/** What nobody drives. While another process has the workspace there is nothing that could be taken up. */
async function findRuns(context: CommandContext, taken: ReadonlySet<string>): Promise<Unfinished[]> {
  const { directory, composition } = await openWorkspace(context);
  // To look at a lock that this process holds would drop it.
  if (taken.size === 0 && probeLock(directory) !== null) return [];
  if (taken.size === 0) bringUpToDate(directory, composition.clock);
  const unfinished = readLedger(directory, composition, (ledger) =>
    listUnfinished(ledger, null, composition.clock.now()),
  );
  return unfinished.filter((run) => isSwept(run) && !taken.has(run.runId)).toReversed();
}

/** undefined: it was not taken up, because all were told to end before. */
async function host(
  context: CommandContext,
  { runId, name, why }: Unfinished,
  { options, hosted, told }: { options: ResumeOptions; hosted: Map<string, RunningRun>; told: () => End | undefined },
): Promise<number | undefined> {
  const { output, host: machine } = context;
  const { resumeRun } = await import('../../engine.ts');
  if (told() !== undefined) return undefined;
  output.problem(`${name}: ${why}`);
  const named: Output = options.json === true ? output : { ...output, line: (text) => output.line(prefix(name, text)) };
  const show = showRun({ ...context, output: named, exit: () => undefined }, { ...options, plain: true });
  try {
    const ports: EnginePorts = {
      ...compose(machine),
      host: machine,
      patienceMs: 0,
      onEvent: (event) => show.onEvent(event),
    };
    const running = await resumeRun(ports, machine.workingDirectory, runId);
    hosted.set(runId, running);
    const [end] = await Promise.all([show.wait(running), told()?.(running)]);
    return end.exitCode;
  } catch (error) {
    if (options.json === true) output.json({ ...errorLine(error), run: name });
    output.problem(`${name}: ${errorText(error)}`);
    return isSquadError(error) ? error.exitCode : 1;
  } finally {
    hosted.delete(runId);
  }
}

function prefix(name: string, text: string): string {
  return text.replaceAll(/^(?=.)/gm, `${name}  `);
}

import { compose } from '../../compose.ts';
import { usageError } from '../../model/errors.ts';
import { listUnfinished, mostUrgent } from '../../read-model/unfinished.ts';
import { bringUpToDate } from '../../substrate/ledger/index.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
import type { EnginePorts } from '../../engine.ts';
import { limitsFromOptions } from '../../model/limits.ts';
import { taskScope, WHOLE_RUN } from '../../model/plan/intervention.ts';
import type { CancelOptions, CommandContext, DriveOptions, ResumeOptions, RunOptions } from '../command-context.ts';
import { checkNewRun, unfinishedRunOf } from '../new-run.ts';
import { openRun, openWorkspace, readLedger, type LedgerPlace } from '../open-run.ts';
import { scopeOf } from '../option-values.ts';
import { reload, refuseReloadWith } from './reload.ts';
import { intervene } from './intervene.ts';
import { showRun } from './show-run.ts';

/** Runs an objective file, from the checks before the run exists to its report. */
export async function run(context: CommandContext, path: string, options: RunOptions): Promise<void> {
  if (options.resume === true) {
    const unfinished = await unfinishedRunOf(context, path);
    if (unfinished !== undefined) return resume(context, unfinished, options);
  }
  // The checks mostly wait for git, so the graph is loaded meanwhile.
  const loading = import('../../engine.ts');
  const checked = await checkNewRun(context, path, options);
  const { startRun } = await loading;
  const show = showRun(context, options);
  const running = await startRun(
    { ...drivingPorts(context, options), onEvent: show.onEvent },
    checked.definition,
    checked.repository,
  );
  for (const { about, text, next } of checked.warnings) {
    // `squad doctor` reports problems of the machine.
    if (about === 'git-version') continue;
    const whole = next === undefined ? text : `${text}. ${next}`;
    show.onEvent({ type: 'warning', at: Date.now(), runId: running.runId, text: whole });
  }
  await show.follow(running);
}

/** Resumes the named run, or the one that needs it most. If its engine is running, this lifts the pause there. */
export async function resume(context: CommandContext, name: string | undefined, options: ResumeOptions): Promise<void> {
  const { host, output } = context;
  const limits = limitsFromOptions(options);
  refuseReloadWith(options);
  if (options.all === true) return (await import('./sweep.ts')).sweep(context, options);
  if (options.agent !== undefined || options.task !== undefined) {
    return intervene(context, name, { verb: 'resume', on: scopeOf(options) }, options);
  }
  const chosen = await chooseRun(context, name, Object.keys(limits).length > 0);
  if (options.reload === true) await reload(context, chosen.runId, options);
  if (chosen.isPaused) return intervene(context, chosen.runId, { verb: 'resume', on: WHOLE_RUN }, options);
  // A program needs no reason if there is only one run.
  if (chosen.why !== undefined && (chosen.others > 0 || options.json !== true))
    output.problem(`Resuming ${chosen.name}: ${chosen.why}.`);
  const { resumeRun } = await import('../../engine.ts');
  const show = showRun(context, options);
  const ports: EnginePorts = { ...drivingPorts(context, options), onEvent: show.onEvent };
  const running = await resumeRun(ports, host.workingDirectory, chosen.runId, limits);
  await show.follow(running);
}

/** Cancels a run or task. Without a running engine, this process ends the run and writes its report. Exit 0 then. */
export async function cancel(context: CommandContext, name: string | undefined, options: CancelOptions): Promise<void> {
  const { reading } = await openRun(context, name);
  const { reason: why = '', task } = options;
  const on = task === undefined ? WHOLE_RUN : taskScope(task);
  await intervene(context, reading.row.id, { verb: 'cancel', on, why }, options);
  if (on !== WHOLE_RUN || reading.driven) return;
  await resume(context, reading.row.id, options);
  context.exit(0);
}

/** A shorter wait does not end the engine. */
const PATIENCE_MS = 60_000;

function drivingPorts({ host }: CommandContext, { wait }: DriveOptions): EnginePorts {
  return { ...compose(host), host, ...(wait === false ? { patienceMs: PATIENCE_MS } : {}) };
}

/** The run to resume, why, and how many others are unfinished. Throws `usage` if there is none. `raises`: it gets new limits. */
async function chooseRun(context: CommandContext, name: string | undefined, raises: boolean) {
  const workspace = await openWorkspace(context);
  bringUpToDate(workspace.directory, workspace.composition.clock);
  const known = name === undefined ? pick(workspace, raises) : { name, why: undefined, others: 0 };
  const { reading } = await openRun(context, known.name);
  const { row, driven, board } = reading;
  // Only the pause has to be lifted. A drained or stopped run is ending: only a pause keeps the engine.
  const isPaused = driven && board.pauses.get(WHOLE_RUN)?.verb === 'pause';
  return { runId: row.id, name: row.name, isPaused, others: known.others, why: known.why };
}

function pick(place: LedgerPlace, raises: boolean): { name: string; why: string; others: number } {
  const lockedBy = probeLock(place.directory);
  const now = place.composition.clock.now();
  const all = readLedger(place, (ledger) => listUnfinished(ledger, lockedBy, now));
  // While an engine is running, only its own run can be resumed.
  const driven = all.find(({ need }) => need === 'driven');
  const chosen = driven ?? mostUrgent(all, raises);
  if (chosen === undefined) {
    throw usageError('there is no run to resume here', 'See `squad status`, or start a run: `squad run objective.md`.');
  }
  const others = all.length - 1;
  if (others === 0) return { name: chosen.runId, why: chosen.why, others };
  const rest = `${others} other${others === 1 ? '' : 's'} unfinished`;
  return { name: chosen.runId, why: `${chosen.why} (${rest}; name one to choose)`, others };
}

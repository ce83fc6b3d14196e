import { errorText, isSquadError, usageError } from '../../model/errors.ts';
import { limitsFromOptions } from '../../model/limits.ts';
import { requestOf } from '../../model/plan/verbs.ts';
import { squadOn, type Squad } from '../../squad/squad.ts';
import { chooseRun, findUnfinished } from '../../squad/choose-run.ts';
import type { RunEvent } from '../../model/run-event.ts';
import type { RunEnd, RunningRun } from '../../view/running-run.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, DriveOptions, Options, ResumeOptions, RunOptions } from '../command-context.ts';
import { openWorkspace, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { isQueueFlagged } from '../../squad/queue-flag.ts';
import { loadAsking } from '../ask/load-asking.ts';
import { newRunOf, trustOf } from '../consent.ts';
import { namedFolder, givenSource, showDone } from '../given-source.ts';
import { printResult } from '../output.ts';
import { refuseRepeat } from '../refuse-repeat.ts';
import type { QueueHost } from './host-queue.ts';
import { intervene, waitsForResume } from './intervene.ts';
import { showRun } from './show-run.ts';

/** Runs an objective or a folder, from the checks before the run exists to its report. */
export async function run(context: CommandContext, given: string | undefined, options: RunOptions): Promise<void> {
  if (options.pool !== undefined) return (await import('../pool/submit.ts')).submitRun(context, given, options);
  const folder = namedFolder(given, options);
  const isCompleted = async () => folder !== undefined && (await showDone(context, folder, options));
  if (options.dryRun === true) {
    if (await isCompleted()) return;
    return (await import('./dry-run.ts')).showDryRun(context, given, options);
  }
  const objective = await givenSource(context, given, options);
  // Before its folder is read: a run can be resumed whatever a person has written there meanwhile.
  const unfinished = options.resume === true ? await findUnfinished(context, objective) : undefined;
  if (unfinished !== undefined) return resume(context, unfinished.runId, options);
  if (await isCompleted()) return;
  if (folder === undefined) await refuseRepeat(context, objective, options);
  const { runId } = options;
  if (options.detach === true) {
    if (runId !== undefined) throw usageError('--run-id cannot be combined with --detach', 'Leave out one of them.');
    return (await import('./detach.ts')).detachRun(context, objective, options);
  }
  const show = await showAndAsk(context, options);
  const starting = await import('../../squad/run.ts');
  let running: RunningRun;
  try {
    running = await starting.run({ host: context.host }, objective, {
      ...newRunOf(context, options),
      runId,
      ...show.drive,
    });
  } catch (error) {
    if (runId !== undefined || !isSquadError(error) || error.code !== 'workspace-busy') throw error;
    return (await import('./hand-over.ts')).handOver(context, objective, options, resume);
  }
  await show.follow(running);
}

/** Between two looks whether something is in the queue. */
const QUEUE_LOOK_MS = 1000;

/** Resumes the named run, or the one that needs it most. If its engine is running, this lifts the pause there. */
export async function resume(context: CommandContext, name: string | undefined, options: ResumeOptions): Promise<void> {
  const { host, output } = context;
  if (context.remote !== undefined) return void (await intervene(context, name, requestOf('resume', options), options));
  const limits = limitsFromOptions(options);
  refuseOnOneRun(options);
  if (options.all === true) return (await import('./sweep.ts')).sweep(context, options);
  if (options.agent !== undefined || options.task !== undefined) {
    await intervene(context, name, requestOf('resume', options), options);
    return;
  }
  const { runId, isPaused, isIncomplete, why, others, ...chosen } = await chooseRun(
    context,
    name,
    Object.keys(limits).length > 0 || options.pastDeadline === true,
  );
  if (isIncomplete) return writeAgain(context, runId, options);
  const squad = squadOn(host);
  if (options.reload === true || options.pastDeadline === true) {
    await (await import('../../squad/run.ts')).refuseResume({ host }, runId, trustOf(context, options));
  }
  if (options.reload === true) await reload(context, squad, runId, options);
  if (options.pastDeadline === true) {
    const { by } = await squad.intervene(runId, { verb: 'past-deadline' });
    output.problem(`${chosen.name} works past its deadline from now on, because ${plainLine(by, 60)} says so.`);
  }
  if (isPaused) return void (await intervene(context, runId, { verb: 'resume' }, options));
  // A program needs no reason if there is only one run.
  if (why !== undefined && (others > 0 || options.json !== true)) output.problem(`Resuming ${chosen.name}: ${why}.`);
  if (options.detach === true) return (await import('./detach.ts')).detachResume(context, runId, options);
  const show = await showAndAsk(context, options);
  await show.follow(await squad.resume(runId, { limits, trust: trustOf(context, options), ...show.drive }));
}

/** Writes the folders that a run, which is over, could not write. Exit 0 then, however the run ended. */
async function writeAgain(context: CommandContext, runId: string, options: ResumeOptions): Promise<void> {
  const { host, output } = context;
  const { writeFolders } = await import('../../squad/folder-runs.ts');
  const warn = (text: string): void => output.problem(`note: ${plainLine(text, 800)}`);
  for (const folder of await writeFolders({ host }, runId, { warn, trust: trustOf(context, options) })) {
    const lines = [`Wrote the files in ${plainLine(folder, 300)} again: they are complete.`];
    printResult(output, options, { type: 'folder-written', runId, folder }, lines);
  }
}

/** Shows a run and asks its questions, where a person is at the terminal. */
export async function showAndAsk(context: CommandContext, options: DriveOptions) {
  const { traceDetail, trace = traceDetail === true ? true : undefined } = options;
  const show = await showRun(context, options);
  const canAsk = options.json !== true && process.stdin.isTTY && process.stderr.isTTY;
  const asking = canAsk ? await loadAsking({ ...context, away: show.away }) : undefined;
  if (asking !== undefined) show.answerBy(async () => asking.ask());
  const onEvent = (event: RunEvent): void => {
    show.onEvent(event);
    asking?.hear(event);
  };
  return {
    drive: { onEvent, patienceMs: patienceOf(options), attended: asking?.attended, trace, traceDetail },
    /** Meanwhile this engine also drives runs of the queue, and leaves them to another one at its end. */
    follow: async (running: RunningRun): Promise<RunEnd> => {
      let queueHost: QueueHost | undefined;
      let looking: Promise<void> | undefined;
      let workspace: OpenedWorkspace | undefined;
      const hostIfQueued = async (): Promise<QueueHost | undefined> => {
        workspace ??= await openWorkspace(context);
        if (queueHost === undefined && isQueueFlagged(workspace.directory))
          queueHost = (await import('./host-queue.ts')).createQueueHost(context, workspace, running, show.note);
        return queueHost;
      };
      const look = async (): Promise<void> => (await hostIfQueued())?.look();
      const timer = setInterval(() => {
        looking ??= look()
          .catch((error: unknown) => show.note(`the queue was not looked at: ${errorText(error)}`))
          .finally(() => void (looking = undefined));
      }, QUEUE_LOOK_MS);
      try {
        return await show.follow(running, async () => asking?.close());
      } finally {
        clearInterval(timer);
        await looking;
        try {
          // Also for what came into the queue since the last look.
          if ((await (await hostIfQueued())?.handOver()) === true) context.leave?.();
        } catch (error) {
          // The repository may be gone. This run has ended as it has.
          show.note(`the queue was left alone: ${errorText(error)}`);
        }
      }
    },
  };
}

/** Cancels a run or task. Without a running engine, this process ends the run and writes its report. Exit 0 then. */
export async function cancel(
  context: CommandContext,
  name: string | undefined,
  options: Options<'cancel'> & { readonly task?: string },
): Promise<void> {
  const done = await intervene(context, name, requestOf('cancel', options), options);
  const { runId, name: runName } = done;
  if (options.task !== undefined || !waitsForResume(done)) return;
  try {
    await resume(context, runId, options);
  } catch (error) {
    if (!isSquadError(error) || error.code !== 'workspace-busy') throw error;
    context.output.problem(`note: it ends once no other engine works here: \`squad resume ${runName}\`.`);
  }
  context.exit(0);
}

/** A shorter wait does not end the engine. */
const PATIENCE_MS = 60_000;

function patienceOf({ wait }: DriveOptions): number | undefined {
  return wait === false ? PATIENCE_MS : undefined;
}

/** Throws `usage` for a reload, a background engine or a passed deadline of something else than one whole run. */
function refuseOnOneRun({ reload: reloads, pastDeadline, detach, all, agent, task }: ResumeOptions): void {
  if (all !== true && agent === undefined && task === undefined) return;
  const flags = [
    reloads === true && '--reload',
    pastDeadline === true && '--past-deadline',
    detach === true && '--detach',
  ];
  const given = flags.find((flag) => flag !== false);
  if (given === undefined) return;
  throw usageError(
    `${given} works on one whole run: it cannot be combined with --all, --agent or --task`,
    `Run \`squad resume <run> ${given}\`.`,
  );
}

async function reload(context: CommandContext, squad: Squad, runId: string, options: ResumeOptions): Promise<void> {
  const { output } = context;
  const { changed, criteria, kept } = await squad.reload(runId, { trust: trustOf(context, options) });
  for (const name of kept) output.problem(`${name} stays as it was when the run began: its plan was made with it.`);
  if (changed.length + criteria.length === 0) output.problem('squad.yaml has nothing new for this run.');
  for (const line of changed) output.problem(`From squad.yaml: ${plainLine(line, 400)}`);
  for (const line of criteria) output.problem(`From the objective: ${plainLine(line, 400)}`);
}

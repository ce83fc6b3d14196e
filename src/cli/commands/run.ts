import { compose } from '../../compose.ts';
import type { EnginePorts } from '../../engine.ts';
import { preflight } from '../../preflight/preflight.ts';
import { WHOLE_RUN } from '../../model/plan/intervention.ts';
import { chooseRun } from '../choose-run.ts';
import type { CommandContext, DriveOptions, ResumeOptions, RunOptions } from '../command-context.ts';
import { confirmTrust } from '../confirm-trust.ts';
import { scopeOf } from '../option-values.ts';
import { takenNames, unfinishedRunOf } from '../known-runs.ts';
import { reload, refuseReloadWith } from './reload.ts';
import { limitsFromOptions } from '../../model/limits.ts';
import { intervene } from './intervene.ts';
import { showRun } from './show-run.ts';

/** Runs an objective file, from the checks before the run exists to its report. */
export async function run(context: CommandContext, path: string, options: RunOptions): Promise<void> {
  const { host } = context;
  const limits = limitsFromOptions(options);
  const composition = compose(host);
  if (options.resume === true) {
    const unfinished = await unfinishedRunOf(context, composition, path);
    if (unfinished !== undefined) return resume(context, unfinished, options);
  }
  // The checks mostly wait for git, so the graph is loaded meanwhile.
  const loading = import('../../engine.ts');
  const checked = await preflight(
    {
      ...composition,
      host,
      takenNames: async (repository) => takenNames(context, composition, repository),
      ...(process.stdin.isTTY && options.json !== true
        ? { confirm: async (items) => confirmTrust(context, items) }
        : {}),
    },
    {
      objectivePath: path,
      playbook: options.playbook,
      runtime: options.runtime,
      limits,
      yes: options.yes === true,
      allowFullAccess: options.allowFullAccess === true,
      name: options.name,
      strict: options.strict,
    },
  );
  const { startRun } = await loading;
  const show = showRun(context, options);
  const running = await startRun(
    { ...drivingPorts(context, options), onEvent: (event) => show.onEvent(event) },
    checked.definition,
    checked.repository,
  );
  for (const { about, text, next } of checked.warnings) {
    // `squad doctor` reports problems of the machine.
    if (about === 'git-version') continue;
    const whole = next === undefined ? text : `${text}. ${next}`;
    show.onEvent({ type: 'warning', at: composition.clock.now(), runId: running.runId, text: whole });
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
  const ports: EnginePorts = { ...drivingPorts(context, options), onEvent: (event) => show.onEvent(event) };
  const running = await resumeRun(ports, host.workingDirectory, chosen.runId, limits);
  await show.follow(running);
}

/** A shorter wait does not end the engine. */
const PATIENCE_MS = 60_000;

function drivingPorts({ host }: CommandContext, { wait }: DriveOptions): EnginePorts {
  return { ...compose(host), host, ...(wait === false ? { patienceMs: PATIENCE_MS } : {}) };
}

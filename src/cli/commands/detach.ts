import { rm } from 'node:fs/promises';
import { RUN_EVENTS } from '../../model/run.ts';
import type { ObjectiveSource } from '../../squad/sources/source-of.ts';
import { checkNewRun } from '../../squad/new-run.ts';
import { refuseInUse, sourceIn } from '../../squad/folder-runs.ts';
import { startDetachedEngine, type EngineStart } from '../../squad/detached-engine.ts';
import { agreeToRun } from '../../squad/run-consent.ts';
import { openRun } from '../../squad/open-run.ts';
import { bindWorkspace, openWorkspace, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { refuseBusy } from '../../substrate/ledger/workspace-lock.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { argumentsOf } from '../../text/flags.ts';
import { plainText } from '../../text/plain-text.ts';
import {
  ownProgram,
  type CommandContext,
  type DriveOptions,
  type ResumeOptions,
  type RunOptions,
} from '../command-context.ts';
import { RESUME_FLAGS, RUN_FLAGS } from '../flags.ts';
import { newRunOf, trustOf } from '../consent.ts';
import { printResult, type Output } from '../output.ts';
import { passObjective } from '../../squad/ticket.ts';

/** Starts a run whose engine works in the background. Checks it here, where a person reads the problems and agrees to commands. */
export async function detachRun(context: CommandContext, given: ObjectiveSource, options: RunOptions): Promise<void> {
  const workspace = await openWorkspace(context);
  const source = sourceIn(workspace, given);
  refuseInUse(workspace, source);
  const checked = await checkNewRun(workspace, source, newRunOf(context, options));
  const { name, playbook } = checked.definition;
  const bound = bindWorkspace(workspace);
  const { objective, tickets } = await passObjective(bound.directory, given);
  const args = [
    'run',
    // Fetched here already.
    ...argumentsOf(RUN_FLAGS, { ...options, name, playbook, fetch: false, plain: options.json !== true }),
    ...objective,
  ];
  const begun = (ledger: Ledger): string | undefined => {
    const row = ledger.run(name);
    const isDefined = row && ledger.events({ stream: row.id, types: [RUN_EVENTS.defined], limit: 1 }).length > 0;
    return isDefined === true ? row?.id : undefined;
  };
  try {
    await start(context, bound, { name, args, begun, options });
  } finally {
    for (const ticket of tickets) await rm(ticket, { force: true });
  }
}

/** Resumes a run whose engine works in the background. */
export async function detachResume(context: CommandContext, runId: string, options: ResumeOptions): Promise<void> {
  const workspace = await openWorkspace(context);
  refuseBusy(workspace.directory);
  const { row, segments } = (await openRun(workspace, runId)).reading;
  // Here a person reads what it does; the engine in the background asks no one.
  await agreeToRun(workspace, runId, trustOf(context, options));
  const args = ['resume', runId, ...argumentsOf(RESUME_FLAGS, { ...options, plain: options.json !== true })];
  const begun = (ledger: Ledger): string | undefined =>
    ledger.segments(runId).length > segments.length ? runId : undefined;
  await start(context, workspace, { name: row.name, args, begun, options });
}

interface Start extends Omit<EngineStart, 'command'> {
  readonly args: readonly string[];
  readonly options: DriveOptions;
}

/** Starts the engine and waits until it has the run. If it ends before that, prints what it said and has its exit code. */
async function start(
  { host, output, exit }: CommandContext,
  workspace: OpenedWorkspace,
  { name, args, begun, options }: Start,
): Promise<void> {
  const started = await startDetachedEngine(workspace, { name, command: [...ownProgram(host), ...args], begun });
  if (!started.began) {
    const { said, code } = started;
    if (options.json === true) for (const line of said.split('\n')) repeatJson(output, line);
    else output.problem(plainText(said.trimEnd()));
    return exit(code);
  }
  const { runId, pid, log } = started;
  printResult(output, options, { type: 'detached', runId, name, pid, log }, [
    `${name} runs in the background (process ${pid ?? 'unknown'}).`,
    `  watch   squad watch ${name}`,
    `  stop    squad stop ${name}`,
    `  output  ${log}`,
  ]);
}

function repeatJson(output: Output, line: string): void {
  if (line.startsWith('{')) output.json(JSON.parse(line));
  else if (line !== '') output.problem(plainText(line));
}

import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { wrongEnvironment } from '../../model/errors.ts';
import { LIMITS } from '../../model/limit-table.ts';
import { limitsFromOptions } from '../../model/limits.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import type { ObjectiveSource } from '../../preflight/read-input.ts';
import { checkNewRun } from '../../squad/new-run.ts';
import { openRun, openWorkspace, readIfThere, type OpenedWorkspace } from '../../squad/open-run.ts';
import { refuseBusy } from '../../substrate/ledger/workspace-lock.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { startDetached, type DetachedProgram } from '../../substrate/process/start-detached.ts';
import { plainText } from '../../text/plain-text.ts';
import type { CommandContext, DriveOptions, ResumeOptions, RunOptions } from '../command-context.ts';
import { trustOf } from '../consent.ts';
import { printResult } from '../output.ts';
import { newRunArguments, ownProgram } from '../run-arguments.ts';
import { passObjective } from '../team/ticket.ts';

const LOOK_MS = 100;
/** Below the folder of the run. */
const LOG = 'engine.log';

/** Starts a run whose engine works in the background. Checks it here, where a person reads the problems and agrees to commands. */
export async function detachRun(context: CommandContext, given: ObjectiveSource, options: RunOptions): Promise<void> {
  const workspace = await openWorkspace(context);
  const { directory } = workspace;
  refuseBusy(directory);
  const { playbook, runtime, model: models, name: named, allowFullAccess, strict } = options;
  const checked = await checkNewRun(workspace, given, {
    ...{ playbook, runtime, models, name: named, allowFullAccess, strict },
    ...{ trust: trustOf(context, options), limits: limitsFromOptions(options) },
  });
  const { name, playbook: chosen } = checked.definition;
  const { objective, tickets } = await passObjective(directory, given);
  const args = [
    ...['run', ...newRunArguments({ ...options, name, playbook: chosen })],
    ...(strict === true ? ['--strict'] : []),
    ...driveArguments(options),
    ...objective,
  ];
  const begun = (ledger: Ledger): string | undefined => {
    const row = ledger.run(name);
    const isDefined = row && ledger.events({ stream: row.id, types: [RUN_EVENTS.defined], limit: 1 }).length > 0;
    return isDefined === true ? row?.id : undefined;
  };
  try {
    await start(context, workspace, { name, args, begun, options });
  } finally {
    for (const ticket of tickets) await rm(ticket, { force: true });
  }
}

/** Resumes a run whose engine works in the background. */
export async function detachResume(context: CommandContext, runId: string, options: ResumeOptions): Promise<void> {
  const workspace = await openWorkspace(context);
  refuseBusy(workspace.directory);
  const { row, segments } = (await openRun(workspace, runId)).reading;
  const args = ['resume', runId, ...driveArguments(options)];
  const begun = (ledger: Ledger): string | undefined =>
    ledger.segments(runId).length > segments.length ? runId : undefined;
  await start(context, workspace, { name: row.name, args, begun, options });
}

interface Start {
  readonly name: string;
  readonly args: readonly string[];
  /** Id of the run once an engine has it. */
  readonly begun: (ledger: Ledger) => string | undefined;
  readonly options: DriveOptions;
}

/** Starts the engine and waits until it has the run. If it ends before that, prints what it said and has its exit code. */
async function start(
  context: CommandContext,
  workspace: OpenedWorkspace,
  { name, args, begun, options }: Start,
): Promise<void> {
  const { host, output, exit } = context;
  const folder = join(workspace.directory, 'runs');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const early = join(folder, `${name}.${host.pid}.log`);
  const file = await open(early, 'w', 0o600);
  const { environment, workingDirectory: cwd } = host;
  const engine = startDetached([...ownProgram(host), ...args], { cwd, environment, output: file.fd });
  await file.close();
  const runId = await waitFor(workspace, engine, begun);
  if (runId === undefined) {
    const { code, problem } = await engine.ended;
    const said = await readFile(early, 'utf8');
    await rm(early, { force: true });
    if (problem !== undefined)
      throw wrongEnvironment(`the engine could not be started: ${problem}`, 'Run `squad doctor`.');
    if (options.json === true) for (const line of said.split('\n')) repeatJson(context, line);
    else output.problem(plainText(said.trimEnd()));
    return exit(code ?? 1);
  }
  const log = join(folder, runId, LOG);
  await mkdir(join(folder, runId), { recursive: true, mode: 0o700 });
  await rename(early, log);
  const { pid } = engine;
  printResult(output, options, { type: 'detached', runId, name, pid, log }, [
    `${name} runs in the background (process ${pid ?? 'unknown'}).`,
    `  watch   squad watch ${name}`,
    `  stop    squad stop ${name}`,
    `  output  ${relative(cwd, log)}`,
  ]);
}

function repeatJson({ output }: CommandContext, line: string): void {
  if (line.startsWith('{')) output.json(JSON.parse(line));
  else if (line !== '') output.problem(plainText(line));
}

/** undefined: the engine ended, and no engine has had the run. */
async function waitFor(
  workspace: OpenedWorkspace,
  engine: DetachedProgram,
  begun: Start['begun'],
): Promise<string | undefined> {
  let isOver = false;
  void engine.ended.then(() => void (isOver = true));
  for (;;) {
    const last = isOver;
    const runId = readIfThere(workspace, begun);
    if (runId !== undefined || last) return runId;
    await workspace.composition.clock.sleep(LOOK_MS);
  }
}

/** Followed by an option, so that nothing else is taken for the sink. */
function traceArguments({ trace }: DriveOptions): string[] {
  if (trace === undefined) return [];
  return trace === true ? ['--trace'] : ['--trace', trace];
}

function driveArguments(options: DriveOptions): string[] {
  const limits = LIMITS.flatMap(({ flag }) => {
    const value = flag && options[flag.option];
    return flag === undefined || value === undefined ? [] : [flag.name, String(value)];
  });
  return [
    ...limits,
    ...(options.wait === false ? ['--no-wait'] : []),
    ...traceArguments(options),
    ...(options.json === true ? ['--json'] : ['--plain']),
  ];
}

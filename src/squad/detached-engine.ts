import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { wrongEnvironment } from '../model/errors.ts';
import { startLogged, type DetachedProgram } from '../substrate/system/process/start-detached.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { earlyLog, tidyLeftStarts } from './left-starts.ts';
import { lookIn, type OpenedWorkspace } from './open-workspace.ts';

const LOOK_MS = 100;
/** Below the folder of the run. */
const LOG = 'engine.log';

/** An engine to start in a process of its own. */
export interface EngineStart {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Name of the run. The file of its output is called so until the run has an id. */
  readonly name: string;
  /** Id of the run once an engine has it. */
  readonly begun: (ledger: Ledger) => string | undefined;
}

/** How it started; or what it printed, if it ended before it had the run. */
export type EngineStarted =
  | { readonly began: true; readonly runId: string; readonly pid: number | undefined; readonly log: string }
  | { readonly began: false; readonly code: number; readonly said: string };

/** Starts an engine that outlives this process, and waits until it has its run. Its output goes to a file of the run. */
export async function startDetachedEngine(
  workspace: OpenedWorkspace,
  { command, name, begun }: EngineStart,
): Promise<EngineStarted> {
  const { environment, workingDirectory: cwd, pid: own } = workspace.host;
  const folder = join(workspace.directory, 'runs');
  await tidyLeftStarts(workspace, LOG);
  const early = join(folder, earlyLog(name, own));
  const engine = await startLogged(command, { cwd, environment }, early);
  const runId = await waitFor(workspace, engine, begun);
  if (runId === undefined) {
    const { code, problem } = await engine.ended;
    const said = await readFile(early, 'utf8');
    await rm(early, { force: true });
    if (problem === undefined) return { began: false, code: code ?? 1, said };
    throw wrongEnvironment(`the engine could not be started: ${problem}`, 'Run `squad doctor`.');
  }
  const log = join(folder, runId, LOG);
  await mkdir(join(folder, runId), { recursive: true, mode: 0o700 });
  await rename(early, log);
  return { began: true, runId, pid: engine.pid, log };
}

/** undefined: the engine ended, and no engine has had the run. */
async function waitFor(
  workspace: OpenedWorkspace,
  engine: DetachedProgram,
  begun: EngineStart['begun'],
): Promise<string | undefined> {
  let isOver = false;
  void engine.ended.then(() => void (isOver = true));
  for (;;) {
    const last = isOver;
    const runId = lookIn(workspace, begun);
    if (runId !== undefined || last) return runId;
    await workspace.composition.clock.sleep(LOOK_MS);
  }
}

import { constants, setPriority } from 'node:os';
import { openSync, closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openMachine, type Host, type Machine } from '../engine/machine.ts';
import { isSquadError, usageError } from '../model/errors.ts';
import type { Keep } from '../model/keep.ts';
import { readKeep } from '../squad/keep.ts';
import { openWorkspace, requireRuns, type OpenedWorkspace } from '../squad/open-workspace.ts';
import {
  dryTidying,
  lookForTidying,
  needsTidying,
  tidy,
  type InTurn,
  type Look,
  type TidiedAll,
} from '../squad/tidy.ts';
import { holderHere, lockWorkspace } from '../substrate/ledger/index.ts';
import type { Workspaces } from '../substrate/ports/workspaces.ts';
import { startDetached } from '../substrate/system/process/start-detached.ts';
import { workspacePlaces } from '../substrate/system/files/state-place.ts';
import { byteCount } from '../text/byte-count.ts';
import { counted } from '../text/counted.ts';
import { plainLine } from '../text/plain-text.ts';
import { localTime } from '../text/time.ts';
import { ownProgram, type CommandContext, type Options } from './command-context.ts';
import { printResult } from './output.ts';

export interface Tidying extends TidiedAll {
  readonly dryRun: boolean;
}

/** For the holder of the workspace's lock. */
export async function tidyHere(workspace: OpenedWorkspace<Machine>, keep: Keep, dryRun: boolean): Promise<TidiedAll> {
  const look = await lookForTidying(workspace, keep);
  return dryRun ? dryTidying(workspace, look) : tidy(workspace, look, async (work) => work());
}

/** An engine that starts meanwhile gets the lock between two parts of the work, and the rest is left to the next tidying. */
export async function cleanDue(
  context: CommandContext,
  name: string | undefined,
  options: Options<'clean'>,
): Promise<void> {
  const { host, output } = context;
  const { dryRun = false, all, turns, refs } = options;
  if (name !== undefined || all === true || turns === true || refs === true) {
    throw usageError(
      '--due cannot be combined with a run, --all, --turns or --refs',
      'Give it alone, or with --dry-run.',
    );
  }
  const workspace = await openWorkspace({ host, composition: openMachine(host) });
  requireRuns(workspace);
  if (!dryRun) await tidyFolders(workspace, host);
  const look = await lookForTidying(workspace, await readKeep(workspace.repository.root, host));
  const found = dryRun ? await dryTidying(workspace, look) : await tidy(workspace, look, underLock(workspace, host));
  const lines = tidiedLines({ dryRun, ...found });
  printResult(output, options, { type: 'clean', dryRun, runs: [], skipped: [], scratch: [], spares: 0, ...found }, [
    ...(lines.length === 0 ? ['nothing to clean'] : lines),
  ]);
}

/** Brings back or deletes the folders that tasks have left, one by one. An engine that starts meanwhile does the same. */
async function tidyFolders(workspace: OpenedWorkspace<Machine>, host: Host): Promise<void> {
  if (!(await hasLeft(workspace, host))) return;
  const spares = { most: 'as-before' } as const;
  const all = async (workspaces: Workspaces): Promise<void> => {
    while (await workspaces.tidySpares()) continue;
  };
  const { lookIntoWorkspaces } = await import('./clean-run.ts');
  await lookIntoWorkspaces(host, workspace, all, spares);
}

async function hasLeft({ directory }: Pick<OpenedWorkspace<Machine>, 'directory'>, host: Host): Promise<boolean> {
  const { listPool } = await import('../substrate/git/spare/spare-pool.ts');
  return listPool(workspacePlaces(host, directory)).some(({ state, isFree }) => isFree && state !== 'ready');
}

/** Between two parts, another squad that waits for the lock gets it. */
const GAP_MS = 30;

function underLock(
  { directory, composition: { clock } }: OpenedWorkspace<Machine>,
  { pid }: Pick<Host, 'pid'>,
): InTurn {
  return async (work) => {
    const lock = lockWorkspace(directory, holderHere(pid, clock.now()), true);
    try {
      return await work();
    } finally {
      lock.release();
      await sleep(GAP_MS);
    }
  };
}

/** Starts a tidying that outlives this process, if there is something to do. A run never fails because of it. */
export async function tidyLater(context: CommandContext, runId: string): Promise<void> {
  const { host } = context;
  try {
    const workspace = await openWorkspace({ host, composition: openMachine(host) });
    const keep = async (): Promise<Keep> => readKeep(workspace.repository.root, host);
    if (!(await hasLeft(workspace, host)) && !(await needsTidying(workspace, keep, runId))) return;
    const nothing = openSync('/dev/null', 'w');
    const { environment, workingDirectory: cwd } = host;
    const { pid } = startDetached([...ownProgram(host), 'clean', '--due'], { cwd, environment, output: nothing });
    closeSync(nothing);
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // The next run or `squad clean` tries again, and says why it cannot.
  }
}

/** One line for `squad status`; undefined: nothing will go. */
export async function tidyingLine({ host }: CommandContext): Promise<string | undefined> {
  try {
    const workspace = await openWorkspace({ host, composition: openMachine(host) });
    const look = await lookForTidying(workspace, await readKeep(workspace.repository.root, host));
    const due = dueText(look);
    if (due !== '') return `tidying  ${due}: after the next run, or now with \`squad clean\``;
    if (look.next === null) return undefined;
    const { at, key, run } = look.next;
    return `tidying  nothing until ${localTime(at, workspace.composition.clock.now())}, then ${KEPT[key]} of ${run}`;
  } catch (error) {
    return isSquadError(error) ? `tidying  none: ${plainLine(error.message, 300)}` : undefined;
  }
}

const KEPT = {
  output: 'the raw output',
  refs: 'refs of merged work',
  checkpoints: 'older checkpoints',
  runs: 'the report',
} as const;

/** Empty: nothing is due. */
function dueText({ due, backups }: Look): string {
  const runsWith = (has: (one: Look['due'][number]) => boolean): number => due.filter(has).length;
  const sum = (key: 'refs' | 'branches'): number => due.reduce((all, one) => all + one[key].length, 0);
  const parts = [
    [runsWith(({ output }) => output.length > 0), (some: number) => `raw output of ${counted(some, 'run')}`],
    [sum('refs'), (some: number) => `${counted(some, 'ref')} of merged work`],
    [sum('branches'), (some: number) => `branches of ${counted(some, 'merged run')}`],
    [runsWith(({ checkpoints }) => checkpoints > 0), (some: number) => `checkpoints of ${counted(some, 'run')}`],
    [runsWith(({ copies }) => copies), (some: number) => `copied files of ${counted(some, 'run')}`],
    [runsWith(({ runs }) => runs), (some: number) => `reports of ${counted(some, 'run')}`],
    [backups.length, (some: number) => counted(some, 'old backup')],
  ] as const;
  return parts.flatMap(([some, text]) => (some === 0 ? [] : [text(some)])).join(', ');
}

/** One line for each thing that went, or would go, with the key that says so. */
export function tidiedLines({ dryRun, tidied, backups }: Tidying): string[] {
  const verb = dryRun ? 'would remove' : 'removed';
  const ofRuns = tidied.flatMap(({ run, output, bytes, packed, refs, branches, checkpoints, copies, files }) => [
    ...(output === 0
      ? []
      : [
          `${verb}  prompts and raw output of ${counted(output, 'turn')} of ${run}, ${byteCount(bytes)}  (keep.output)`,
        ]),
    ...(refs.length === 0 ? [] : [`${verb}  ${counted(refs.length, 'ref')} of merged work of ${run}  (keep.refs)`]),
    ...branches.map(
      ({ at }) => `${verb}  branch squad/${run}, which ${dryRun ? 'is' : 'was'} at ${at}  (keep.branches)`,
    ),
    ...(checkpoints === 0
      ? []
      : [`${verb}  ${counted(checkpoints, 'checkpoint')} of ${run} before its newest  (keep.checkpoints)`]),
    ...(copies === null ? [] : [`${verb}  ${plainLine(copies)}  (keep.refs)`]),
    ...(files === null ? [] : [`${verb}  ${plainLine(files)}  (keep.runs)`]),
    ...(packed === 0 ? [] : [`compressed  ${counted(packed, 'file')} of raw output of ${run}`]),
  ]);
  return [...ofRuns, ...backups.map((name) => `${verb}  ${plainLine(name)}, an old backup  (keep.backups)`)];
}

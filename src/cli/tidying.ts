import { constants, setPriority } from 'node:os';
import { openSync, closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openMachine, type Host, type Machine } from '../engine/machine.ts';
import { isSquadError, usageError } from '../model/errors.ts';
import type { Keep } from '../model/keep.ts';
import { readKeep } from '../squad/keep.ts';
import { openWorkspace, requireRuns, type OpenedWorkspace } from '../squad/open-workspace.ts';
import { dryTidying, lookForTidying, needsTidying, tidy, type InTurn, type Tidied } from '../squad/tidy.ts';
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

export interface Tidying {
  readonly dryRun: boolean;
  readonly tidied: readonly Tidied[];
}

/** For the holder of the workspace's lock. */
export async function tidyHere(workspace: OpenedWorkspace<Machine>, keep: Keep, dryRun: boolean) {
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
  const tidied = dryRun ? await dryTidying(workspace, look) : await tidy(workspace, look, underLock(workspace, host));
  const lines = tidiedLines({ dryRun, tidied });
  printResult(output, options, { type: 'clean', dryRun, runs: [], skipped: [], scratch: [], spares: 0, tidied }, [
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
    const { due, nextAt, runs } = await lookForTidying(workspace, await readKeep(workspace.repository.root, host));
    const now = workspace.composition.clock.now();
    if (due.length > 0) {
      return `tidying  ${dueText(due)}: after the next run, or now with \`squad clean\``;
    }
    if (nextAt === null) return undefined;
    const turns = runs.filter(({ endedAt, turns: ids }) => endedAt !== null && ids.length > 0).length;
    return `tidying  nothing until ${localTime(nextAt, now)}, then the raw output of the oldest of ${counted(turns, 'run')}`;
  } catch (error) {
    return isSquadError(error) ? `tidying  none: ${plainLine(error.message, 300)}` : undefined;
  }
}

type Due = Awaited<ReturnType<typeof lookForTidying>>['due'];

function dueText(due: Due): string {
  const runs = due.filter(({ output }) => output.length > 0).length;
  const [refs, branches] = (['refs', 'branches'] as const).map((key) =>
    due.reduce((sum, one) => sum + one[key].length, 0),
  );
  const files = due.filter((one) => one.runs).length;
  return [
    ...(runs === 0 ? [] : [`raw output of ${counted(runs, 'run')}`]),
    ...(refs === 0 ? [] : [`${counted(refs ?? 0, 'ref')} of merged work`]),
    ...(branches === 0 ? [] : [`branches of ${counted(branches ?? 0, 'merged run')}`]),
    ...(files === 0 ? [] : [`reports of ${counted(files, 'run')}`]),
  ].join(', ');
}

/** One line for each thing that went, or would go, with the key that says so. */
export function tidiedLines({ dryRun, tidied }: Tidying): string[] {
  const verb = dryRun ? 'would remove' : 'removed';
  return tidied.flatMap(({ run, output, bytes, packed, refs, branches, files }) => [
    ...(output === 0
      ? []
      : [
          `${verb}  prompts and raw output of ${counted(output, 'turn')} of ${run}, ${byteCount(bytes)}  (keep.output)`,
        ]),
    ...(refs.length === 0 ? [] : [`${verb}  ${counted(refs.length, 'ref')} of merged work of ${run}  (keep.refs)`]),
    ...branches.map(
      ({ at }) => `${verb}  branch squad/${run}, which ${dryRun ? 'is' : 'was'} at ${at}  (keep.branches)`,
    ),
    ...(files === null ? [] : [`${verb}  ${plainLine(files)}  (keep.runs)`]),
    ...(packed === 0 ? [] : [`compressed  ${counted(packed, 'file')} of raw output of ${run}`]),
  ]);
}

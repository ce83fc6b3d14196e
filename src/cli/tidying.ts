import { constants, setPriority } from 'node:os';
import { openSync, closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openMachine, type Host, type Machine } from '../engine/machine.ts';
import { diskText, type DiskUse } from '../model/disk-use.ts';
import { isSquadError, usageError } from '../model/errors.ts';
import type { Keep } from '../model/keep.ts';
import { lastDiskUse, noteDisk } from '../squad/disk-use.ts';
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
import type { TidyingNotice } from '../view/status.ts';
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
  const look = await lookForTidying(workspace, keep, true);
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
  const look = await lookForTidying(workspace, await readKeep(workspace.repository.root, host), true);
  const found = dryRun ? await dryTidying(workspace, look) : await tidy(workspace, look, underLock(workspace, host));
  if (!dryRun) await noteDisk(workspace);
  const lines = tidiedLines({ dryRun, ...found });
  printResult(
    output,
    options,
    { type: 'clean', dryRun, runs: [], skipped: [], scratch: [], spares: 0, freed: null, ...found },
    [...(lines.length === 0 ? ['nothing to clean'] : lines)],
  );
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

/** For `squad status`: what squad takes on the disk, and what goes by itself. */
export async function keptNotice(context: CommandContext): Promise<KeptNotice> {
  const { host } = context;
  const workspace = await openWorkspace({ host, composition: openMachine(host) });
  const disk = await lastDiskUse(workspace);
  const now = workspace.composition.clock.now();
  const about = disk === null ? 'not measured yet: `squad doctor` does' : `${diskText(disk)} (${ageText(disk, now)})`;
  const said = { disk, lines: [`disk  ${about}`] };
  try {
    const notice = noticeOf(await lookForTidying(workspace, await readKeep(workspace.repository.root, host)));
    const line = tidyingLine(notice, now);
    return { ...said, tidying: notice, lines: [...said.lines, ...(line === undefined ? [] : [line])] };
  } catch (error) {
    if (!isSquadError(error)) return said;
    return { ...said, lines: [...said.lines, `tidying  none: ${plainLine(error.message, 300)}`] };
  }
}

interface KeptNotice {
  readonly disk: DiskUse | null;
  /** Absent: what is due could not be found. */
  readonly tidying?: TidyingNotice;
  readonly lines: readonly string[];
}

function ageText({ measuredAt }: DiskUse, now: number): string {
  return `measured ${localTime(measuredAt, now)}`;
}

function noticeOf({ due, backups, next }: Look): TidyingNotice {
  const runsWith = (has: (one: Look['due'][number]) => boolean): number => due.filter(has).length;
  const sum = (key: 'refs' | 'branches'): number => due.reduce((all, one) => all + one[key].length, 0);
  return {
    output: runsWith(({ output }) => output.length > 0),
    refs: sum('refs'),
    branches: sum('branches'),
    checkpoints: runsWith(({ checkpoints }) => checkpoints > 0),
    copies: runsWith(({ copies }) => copies),
    reports: runsWith(({ runs }) => runs),
    backups: backups.length,
    next,
  };
}

const DUE = {
  output: (some: number) => `raw output of ${counted(some, 'run')}`,
  refs: (some: number) => `${counted(some, 'ref')} of merged work`,
  branches: (some: number) => `branches of ${counted(some, 'merged run')}`,
  checkpoints: (some: number) => `checkpoints of ${counted(some, 'run')}`,
  copies: (some: number) => `copied files of ${counted(some, 'run')}`,
  reports: (some: number) => `reports of ${counted(some, 'run')}`,
  backups: (some: number) => counted(some, 'old backup'),
} as const;
type DueKey = keyof typeof DUE;

const LATER: Readonly<Record<string, string>> = {
  output: 'the raw output',
  refs: 'refs of merged work',
  checkpoints: 'older checkpoints',
  runs: 'the report',
};

/** undefined: nothing will go. */
function tidyingLine(notice: TidyingNotice, now: number): string | undefined {
  const due = (Object.keys(DUE) as DueKey[]).flatMap((key) => (notice[key] === 0 ? [] : [DUE[key](notice[key])]));
  if (due.length > 0) return `tidying  ${due.join(', ')}: after the next run, or now with \`squad clean\``;
  if (notice.next === null) return undefined;
  const { at, key, run } = notice.next;
  return `tidying  nothing until ${localTime(at, now)}, then ${LATER[key] ?? key} of ${run}`;
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

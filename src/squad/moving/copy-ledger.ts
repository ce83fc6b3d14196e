import { rmSync } from 'node:fs';
import { inspectForWork } from '../../substrate/git/inspect-repository.ts';
import { workspacesOf } from '../../engine/workspaces.ts';
import { SquadError } from '../../model/errors.ts';
import type { RunDefinition } from '../../model/run.ts';
import { unkeptTurns, type UnkeptTurn } from '../../rules/replication-point.ts';
import {
  backUpLedger,
  ledgerPath,
  lockWorkspace,
  holderHere,
  openLedger,
  type WorkspaceLock,
} from '../../substrate/ledger/index.ts';
import { filesOf } from '../../substrate/ledger/backup-files.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { endOfRun } from '../../view/end-row.ts';
import { findRun, type RunReading } from '../../view/read-run.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';

/** Evidence may take a command of minutes. */
const PATIENCE_MS = 120_000;
const LOOK_MS = 200;

export interface CopyOptions {
  /** The caller's own. */
  readonly lock?: WorkspaceLock | undefined;
  /** The one run that will continue elsewhere; the others are only its past. Absent: all will. */
  readonly only?: string | undefined;
}

/** A run of the copy that an engine may continue, with the paid turns that only folders have. */
interface CopiedRun {
  readonly reading: RunReading;
  readonly unkept: readonly UnkeptTurn[];
}

/** A paid turn whose work no one can find any more: it is done again. */
export interface LostTurn extends UnkeptTurn {
  readonly run: string;
}

/**
 * Copies the ledger into a folder as it is at a replication point, and what it names beside it. With an engine at work it waits for one;
 * without an engine it keeps the work itself, under the lock. Returns what no folder has any more.
 */
export async function copyAtPoint(
  workspace: OpenedWorkspace,
  folder: string,
  { lock, only }: CopyOptions,
): Promise<LostTurn[]> {
  const { clock } = workspace.composition;
  const target = ledgerPath(folder);
  for (const until = clock.monotonic() + PATIENCE_MS; ; await clock.sleep(LOOK_MS)) {
    // Looked up first: an engine that ends in between only makes this wait once more.
    const driven = lock === undefined && probeLock(workspace.directory) !== null;
    rmSync(target, { force: true });
    rmSync(filesOf(target), { recursive: true, force: true });
    await backUpLedger(ledgerPath(workspace.directory), target);
    failpoint('pack.copied');
    const waiting = copiedRuns(workspace, folder, only).filter(({ unkept }) => unkept.length > 0);
    if (waiting.length === 0) return [];
    if (!driven) return keepAll(workspace, waiting, lock);
    if (clock.monotonic() > until) throw stillGathering(waiting);
  }
}

function copiedRuns(
  { composition: { clock } }: OpenedWorkspace,
  folder: string,
  only: string | undefined,
): CopiedRun[] {
  const ledger = openLedger(folder, { clock, readOnly: true });
  try {
    return ledger.runs().flatMap(({ id }) => {
      if ((only !== undefined && id !== only) || endOfRun(ledger, { id }) !== undefined) return [];
      const reading = findRun(ledger, id, null);
      if (reading === undefined) return [];
      const later = ledger.events({ stream: id, after: reading.row.applied });
      return [{ reading, unkept: unkeptTurns(reading.board, later) }];
    });
  } finally {
    ledger.close();
  }
}

/** As the next engine would do first. It does it again and finds the same. */
async function keepAll(
  workspace: OpenedWorkspace,
  runs: readonly CopiedRun[],
  own: WorkspaceLock | undefined,
): Promise<LostTurn[]> {
  const { composition, host, directory } = workspace;
  const lock = own ?? lockWorkspace(directory, holderHere(host.pid, composition.clock.now()));
  try {
    const repository = await inspectForWork(composition.git, workspace.repository.root);
    const lost: LostTurn[] = [];
    for (const { reading, unkept } of runs) {
      const { definition, board } = reading;
      const ports = workspacesOf({ ...composition, host }, repository, directory, definition);
      try {
        for (const turn of unkept)
          if (!(await keepTurn(ports, definition, board.branch.head, turn)))
            lost.push({ run: definition.name, ...turn });
      } finally {
        await ports.close();
      }
    }
    return lost;
  } finally {
    if (own === undefined) lock.release();
  }
}

/** false: its folder is gone, and no ref has its work. */
async function keepTurn(
  ports: ReturnType<typeof workspacesOf>,
  { name: run }: Pick<RunDefinition, 'name'>,
  head: string,
  { task, attempt }: UnkeptTurn,
): Promise<boolean> {
  const taken = await ports.keepCommits({ run, task }, attempt);
  if (taken.type === 'gone') return taken.kept !== undefined;
  const folder = await ports.addFolder({ run, task, commit: head });
  await ports.rescue(folder, attempt);
  return true;
}

function stillGathering(runs: readonly CopiedRun[]): SquadError {
  const named = runs.flatMap(({ reading, unkept }) => unkept.map(({ attempt }) => `${attempt} of ${reading.row.name}`));
  return new SquadError({
    code: 'workspace-busy',
    message: `the engine has worked on the result of ${named.join(', ')} for ${PATIENCE_MS / 1000} s, so the runs cannot be packed yet`,
    next: 'Run the command again, or end the engine first with `squad stop`.',
  });
}

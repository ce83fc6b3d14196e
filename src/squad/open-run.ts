import type { Composition } from '../engine/compose.ts';
import type { Machine } from '../engine/machine.ts';
import { drivenRun, type LockedBy } from '../view/driven.ts';
import { readHistory, type RunHistory } from '../view/read-run.ts';
import { noRunYet } from '../model/unknown-name.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { lookIn, openWorkspace, requireRuns, runNamed, type OpenedWorkspace, type Place } from './open-workspace.ts';

/** A run as it is on disk, read without a lock. */
export interface OpenedRun<Ports extends Machine = Composition> extends OpenedWorkspace<Ports> {
  readonly reading: RunHistory;
  readonly now: number;
}

/**
 * The run by name, its id or the caller's own id; by default the one that is running, or the newest. Read only. Throws `usage`
 * if there is none.
 */
export async function openRun(place: Place, name: string | undefined): Promise<OpenedRun> {
  const workspace = await openWorkspace(place);
  const { playbooks } = workspace.composition;
  return withRun(workspace, name, (ledger, given, { lockedBy }) => ({
    reading: readHistory(ledger, given, lockedBy, playbooks),
  }));
}

/** As `openRun`, but reads what is asked for. `given`: the run's id or name; undefined: the newest one. */
export function withRun<Ports extends Machine, Found>(
  workspace: OpenedWorkspace<Ports>,
  name: string | undefined,
  read: (ledger: Ledger, given: string | undefined, seen: Seen) => Found,
): OpenedWorkspace<Ports> & Found & Pick<Seen, 'now'> {
  requireRuns(workspace);
  const opened = lookIn(workspace, (ledger, lockedBy, now) => {
    const given = name === undefined ? drivenRun(ledger, lockedBy) : (runNamed(workspace, ledger, name)?.id ?? name);
    return { ...workspace, ...read(ledger, given, { lockedBy, now }), now };
  });
  if (opened === undefined) throw noRunYet();
  return opened;
}

interface Seen {
  readonly lockedBy: LockedBy | null;
  readonly now: number;
}

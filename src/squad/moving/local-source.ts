import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SquadError, usageError, wrongEnvironment } from '../../model/errors.ts';
import type { MovePlace } from '../../model/moved-mark.ts';
import { holderHere, lockWorkspace, openLedger, type WorkspaceLock } from '../../substrate/ledger/index.ts';
import { readMark, removeMark, writeMark } from '../../substrate/ledger/moved-mark.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { defined } from '../../text/defined.ts';
import { drivenRun, isDriven } from '../../view/driven.ts';
import { endOfRun } from '../../view/end-row.ts';
import { consentContent, consentHash } from '../../view/run-consent.ts';
import { findRun } from '../../view/read-run.ts';
import { operatorOf } from '../machine.ts';
import { lookIn, openWorkspace, requireRuns, withLedger, type OpenedWorkspace, type Place } from '../open-workspace.ts';
import { findService } from '../service/service-lock.ts';
import { stop } from '../stop.ts';
import type { ComingRun, PackedRuns } from './move-messages.ts';
import { packRuns } from './pack.ts';

const LOOK_MS = 200;
/** Between its last turn and its end an engine writes its report. */
const MOST_TRIES = 20;

/** Called while engines end. `turns`: those that are waited for. */
export type OnWait = (turns: number) => void;

/** The runs as they are, for the machine that is to have them. */
export function comingRuns(workspace: OpenedWorkspace): ComingRun[] {
  return (
    lookIn(workspace, (ledger) =>
      ledger.runs().flatMap((row) => {
        const found = findRun(ledger, row.id, null);
        if (found === undefined) return [];
        const { definition, limits } = found;
        const hash = consentHash(consentContent(ledger, row.id));
        const unfinished = endOfRun(ledger, { id: row.id }) === undefined;
        const { began: _, ...stored } = definition;
        const { base } = definition.repository;
        return [{ id: row.id, name: row.name, unfinished, base, hash, definition: stored, limits }];
      }),
    ) ?? []
  );
}

function packPath(directory: string, move: string): string {
  return join(directory, `moving-${move}.tar`);
}

/** See `MovingSide.pack`. */
export async function packToMove(
  place: Place,
  request: { readonly move: string; readonly other: MovePlace; readonly now: boolean },
  onWait: OnWait,
): Promise<PackedRuns> {
  const workspace = await openWorkspace(place);
  requireRuns(workspace);
  const { directory, composition } = workspace;
  refuseService(directory);
  const { move, other } = request;
  const driven = lookIn(workspace, (ledger, lockedBy) => drivenRun(ledger, lockedBy));
  const lock = await lockOnceEnded(workspace, request.now, onWait);
  try {
    refuseMarked(directory);
    writeMark(directory, { version: 1, type: 'moving', move, other, at: composition.clock.now() });
    failpoint('move.marked');
    try {
      // Waits for a command that had begun to write before the mark was there.
      const ledger = openLedger(directory, { clock: composition.clock, lock });
      try {
        ledger.transact(() => undefined);
      } finally {
        ledger.close();
      }
      for (const name of packsIn(directory)) rmSync(join(directory, name), { force: true });
      const { bytes, lost, hasCopies } = await packRuns(place, packPath(directory, move), lock);
      failpoint('move.packed');
      const runs = comingRuns(workspace).map(({ id, hash }) => ({ run: id, hash }));
      return {
        bytes,
        runs,
        lost: lost.map(({ run, attempt }) => ({ run, attempt })),
        hasCopies,
        ...defined({ driven }),
      };
    } catch (error) {
      goBack(directory, move);
      throw error;
    }
  } finally {
    lock.release();
  }
}

function refuseMarked(directory: string): void {
  const mark = readMark(directory);
  if (mark === undefined || mark.type === 'here') return;
  throw usageError(
    'another command moves the runs of this repository',
    'Wait for it, or run the same command again once it has ended.',
  );
}

function refuseService(directory: string): void {
  if (findService(directory) === null) return;
  throw new SquadError({
    code: 'workspace-busy',
    message: '`squad serve` runs for this repository, and would begin runs that move',
    next: 'End it with `squad serve stop`, then run the command again.',
  });
}

/** Ends engines and turns until there is none, and takes the lock. An engine at its end may start another one for the queue. */
async function lockOnceEnded(workspace: OpenedWorkspace, now: boolean, onWait: OnWait): Promise<WorkspaceLock> {
  const { directory, host, composition } = workspace;
  for (let tries = 0; ; tries += 1) {
    await endEngines(workspace, now, onWait);
    try {
      return lockWorkspace(directory, holderHere(host.pid, composition.clock.now()), false, { moves: true });
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
      await composition.clock.sleep(LOOK_MS);
    }
  }
}

async function endEngines(workspace: OpenedWorkspace, now: boolean, onWait: OnWait): Promise<void> {
  const { directory, host, composition } = workspace;
  const asked = new Set<string>();
  while (probeLock(directory) !== null) {
    const driven = lookIn(workspace, (ledger, lockedBy) =>
      ledger.runs().filter(({ id }) => isDriven(ledger.segments(id), lockedBy)),
    );
    for (const { id } of driven ?? []) {
      if (asked.has(id)) continue;
      asked.add(id);
      await withLedger(workspace, 'write', (ledger) =>
        ledger.command(id, now ? 'stop' : 'drain', {}, operatorOf(host)),
      );
    }
    const turns = lookIn(workspace, (ledger) => ledger.attempts({ status: 'spawned' }).length) ?? 0;
    if (turns > 0) onWait(turns);
    await composition.clock.sleep(LOOK_MS);
  }
  for (const id of leftRuns(workspace)) await stop({ host, composition }, id, {});
}

/** Unfinished runs with turns that outlived their engine. */
function leftRuns(workspace: OpenedWorkspace): string[] {
  return (
    lookIn(workspace, (ledger) =>
      ledger.runs().flatMap(({ id }) => {
        if (endOfRun(ledger, { id }) !== undefined) return [];
        return ledger.attempts({ runId: id }).some(({ status }) => status !== 'settled') ? [id] : [];
      }),
    ) ?? []
  );
}

function packsIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => /^moving-[\da-f-]{36}\.tar$/.test(name));
}

/** See `MovingSide.fetch`, for a pack of this machine. */
export function packToSend(directory: string, move: string): string {
  const path = packPath(directory, move);
  if (existsSync(path)) return path;
  throw wrongEnvironment(`the pack of this move is gone: ${path}`, 'Bring the runs back, and move them again.');
}

/** See `MovingSide.commit`. */
export function commitMove(directory: string, move: string, other: MovePlace, at: number): void {
  const mark = readMark(directory);
  if (mark?.type === 'moved' && mark.move === move) return;
  if (mark?.type !== 'moving' || mark.move !== move)
    throw usageError('this move was ended by another command', 'Run the command again.');
  writeMark(directory, { version: 1, type: 'moved', move, other, at });
  failpoint('move.committed');
}

/** See `MovingSide.goBack`. */
export function goBack(directory: string, move: string): void {
  const mark = readMark(directory);
  if (mark?.type !== 'moving' || mark.move !== move) return;
  rmSync(packPath(directory, move), { force: true });
  removeMark(directory);
}

/** See `MovingSide.done`. */
export function forgetPack(directory: string, move: string): void {
  rmSync(packPath(directory, move), { force: true });
}

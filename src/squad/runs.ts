import { openMachine, type Machine } from '../engine/machine.ts';
import { readFigures, type RunFigures, summarizeRun, type RunSummary } from '../view/run-summary.ts';
import { readNight, type Night } from '../view/night.ts';
import { readSharedLimits, type SharedLimitsView } from '../view/shared-limits.ts';
import { lookIn, openWorkspace, type Place } from './open-workspace.ts';

/** Every run of the repository, the newest first. Needs no runtime. */
export function listRuns(place: Place<Machine>): Promise<RunSummary[]> {
  return eachRun(place, summarizeRun);
}

/** Figures for statistics, of every run of the repository, the newest first. Needs no runtime. */
export function listFigures(place: Place<Machine>): Promise<RunFigures[]> {
  return eachRun(place, readFigures);
}

/** All runs that an engine worked on since `since` (epoch ms). Needs no runtime. */
export async function readRunsSince({ host, composition }: Place<Machine>, since: number): Promise<Night> {
  const workspace = await openWorkspace({ host, composition: composition ?? openMachine(host) });
  const { playbooks } = workspace.composition;
  const night = lookIn(workspace, (ledger, lockedBy, now) => readNight(ledger, since, { lockedBy, now, playbooks }));
  return night ?? { since, runs: [], turns: 0, costUsd: 0, unknownCostTurns: 0 };
}

/** The limits of all runs together, as they are used now; undefined: none were ever set. */
export async function readLimitsOfAll({ host, composition }: Place<Machine>): Promise<SharedLimitsView | undefined> {
  return lookIn(await openWorkspace({ host, composition: composition ?? openMachine(host) }), readSharedLimits);
}

async function eachRun<T>(
  { host, composition }: Place<Machine>,
  read: (...of: Parameters<typeof summarizeRun>) => T | undefined,
): Promise<T[]> {
  const workspace = await openWorkspace({ host, composition: composition ?? openMachine(host) });
  const { playbooks } = workspace.composition;
  const all = lookIn(workspace, (ledger, lockedBy, now) =>
    ledger.runs().flatMap((row) => read(ledger, row, lockedBy, now, playbooks) ?? []),
  );
  return (all ?? []).toReversed();
}

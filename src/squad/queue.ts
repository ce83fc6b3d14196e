import { openMachine, type Machine } from '../engine/machine.ts';
import { usageError } from '../model/errors.ts';
import { RUN_EVENTS } from '../model/run.ts';
import { unknownRun } from '../model/unknown-name.ts';
import { moveInQueue } from '../view/queue-rules.ts';
import { listQueue, type QueuedRun } from '../view/queue.ts';
import { plainLine } from '../text/plain-text.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { operatorOf } from './machine.ts';
import {
  lookIn,
  openWorkspace,
  requireRuns,
  runNamed,
  withLedger,
  type OpenedWorkspace,
  type Place,
} from './open-workspace.ts';

/** The runs that wait for an engine, the next one first. Needs no runtime. */
export async function readQueue({ host, composition }: Place<Machine>): Promise<QueuedRun[]> {
  const workspace = await openWorkspace({ host, composition: composition ?? openMachine(host) });
  return lookIn(workspace, (ledger, _lockedBy, now) => listQueue(ledger, now)) ?? [];
}

/** Puts a run of the queue to a place (1: it starts next). Throws `usage` for one that is not in the queue. */
export async function moveQueued(place: Place, name: string, to: number): Promise<QueuedRun[]> {
  if (!Number.isInteger(to) || to < 1)
    throw usageError('a place in the queue is a whole number from 1 on', '`1` starts next.');
  return inQueue(place, name, (ledger, queue, run, { now }) => {
    // Only another person's move at the same moment comes in between.
    while (!moveInQueue(ledger, queue, run.runId, to - 1));
    return listQueue(ledger, now);
  });
}

/** Takes a run out of the queue. `resume` starts it all the same. */
export async function dropQueued(place: Place, name: string): Promise<QueuedRun> {
  return inQueue(place, name, (ledger, _queue, run, { by }) => {
    const why = `${plainLine(by, 60)} took it out of the queue`;
    ledger.append(run.runId, RUN_EVENTS.startRefused, { why, dropped: true });
    return run;
  });
}

async function inQueue<T>(
  place: Place,
  name: string,
  work: (ledger: Ledger, queue: QueuedRun[], run: QueuedRun, facts: { now: number; by: string }) => T,
): Promise<T> {
  const workspace = await openWorkspace(place);
  requireRuns(workspace);
  const now = workspace.composition.clock.now();
  return withLedger(workspace, 'write', (ledger) => {
    const queue = listQueue(ledger, now);
    return work(ledger, queue, queuedRun(workspace, ledger, queue, name), { now, by: operatorOf(workspace.host) });
  });
}

function queuedRun(workspace: OpenedWorkspace, ledger: Ledger, queue: readonly QueuedRun[], name: string): QueuedRun {
  const row = runNamed(workspace, ledger, name);
  const found = queue.find(({ runId }) => runId === row?.id);
  if (found !== undefined) return found;
  if (row === undefined) {
    const known = queue.length > 0 ? queue : ledger.runs();
    throw unknownRun(
      name,
      known.map((one) => one.name),
    );
  }
  throw usageError(`${row.name} is not in the queue`, `See \`squad status ${row.name}\`.`);
}

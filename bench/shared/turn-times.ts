import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ScriptedRoom } from './scripted-room.ts';
import { attemptsOf } from './stored-events.ts';

/** One turn, all times in epoch ms. */
export interface TurnTimes {
  readonly task: string;
  /** The ledger's own times. */
  readonly claimed: number;
  readonly spawned: number;
  readonly settled: number;
  /** START: the birth of the file that takes its output, which the wrapper makes before it starts the agent. */
  readonly start: number;
  /** END: the agent's last output, which is its result. */
  readonly end: number;
}

/** The turns of a run that is over, by task; each has one attempt. */
export function turnTimesOf(room: ScriptedRoom): ReadonlyMap<string, TurnTimes> {
  const events = room.events();
  const timesOf = (type: string): Map<string, number> =>
    new Map(attemptsOf(events, type).map(({ task, at }) => [task, at]));
  const spawned = timesOf('attempt-spawned');
  const settled = timesOf('attempt-settled');
  const turns = attemptsOf(events, 'attempt-claimed').map(({ task, attempt, at }): TurnTimes => {
    const { birthtimeMs, mtimeMs } = statSync(join(room.state(), 'turns', attempt, 'stdout'));
    const ledger = { claimed: at, spawned: spawned.get(task) ?? NaN, settled: settled.get(task) ?? NaN };
    return { task, ...ledger, start: birthtimeMs, end: mtimeMs };
  });
  if (turns.length === 0) throw new Error(`no turn is on record in ${room.state()}`);
  return new Map(turns.map((turn) => [turn.task, turn]));
}

/** The turns of the tasks with these ids, in this order. */
export function turnsOf(room: ScriptedRoom, tasks: readonly { readonly id: string }[]): readonly TurnTimes[] {
  const times = turnTimesOf(room);
  return tasks.map(({ id }) => {
    const turn = times.get(id);
    if (turn === undefined) throw new Error(`${id} has no turn`);
    return turn;
  });
}

/** Waits for the START of the first turn that is claimed after this time. */
export async function firstStartAfter(room: ScriptedRoom, time: number): Promise<number> {
  for (const until = performance.now() + MOST_MS; performance.now() < until; await pause(100)) {
    const claimed = attemptsOf(room.events(), 'attempt-claimed').find(({ at }) => at >= time);
    const path = join(room.state(), 'turns', claimed?.attempt ?? 'none', 'stdout');
    if (existsSync(path)) return statSync(path).birthtimeMs;
  }
  throw new Error(`no turn began in ${room.state()}`);
}

const MOST_MS = 60_000;

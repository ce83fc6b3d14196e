import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { longRun, MEMORY_FLAGS } from './shared/long-run.ts';
import { rowOf, type Bench } from './shared/row.ts';
import { ended, openScriptedRoom, type Piece } from './shared/scripted-room.ts';
import { attemptsOf } from './shared/stored-events.ts';

const LIVE = 6;
const TARGET = { of: 'squad', most: 130 } as const;
const PRINT = "console.log(/VmRSS:\\s+(\\d+)/.exec(require('fs').readFileSync('/proc/self/status','utf8'))[1])";

/** Resident memory of the engine's own process, beside a Node that does nothing. */
export const memory: Bench = {
  name: 'memory',
  run: async (folder) => {
    const idle =
      Number(spawnSync(process.execPath, [...MEMORY_FLAGS, '-e', PRINT], { encoding: 'utf8' }).stdout) / 1024;
    const live = await withLiveTurns(folder);
    const { turns } = await longRun();
    // The last but one: the bench itself reads a lot at the very end.
    const late = turns.at(-2)?.rssMb ?? NaN;
    return [
      rowOf(`with ${LIVE} live turns`, 'MB', live, idle, { target: TARGET }),
      rowOf(`after ${turns.length - 1} turns`, 'MB', late, idle, {
        target: TARGET,
        note: `at its first turn ${turns[0]?.rssMb.toFixed(1)} MB`,
      }),
    ];
  },
};

/** The most that was seen while all of them ran: real processes, by the built command line. */
async function withLiveTurns(folder: string): Promise<number> {
  const pieces = Array.from({ length: LIVE }, (_, index): Piece => ({ id: `piece-${index + 1}`, needs: [] }));
  const room = openScriptedRoom(folder, { pieces, turnMs: 3_000, parallel: LIVE });
  const child = room.startRun();
  const done = ended(child);
  let most = 0;
  while (child.exitCode === null) {
    await sleep(100);
    const events = room.events();
    const spawned = attemptsOf(events, 'attempt-spawned').length;
    // The planner's turn is one more of both.
    const lives = spawned - attemptsOf(events, 'attempt-settled').length;
    if (lives === LIVE) most = Math.max(most, residentMb(child.pid ?? 0));
  }
  await done;
  return most;
}

function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    // It has ended since.
    return 0;
  }
}

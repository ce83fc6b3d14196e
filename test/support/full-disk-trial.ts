import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { livingTurns } from './marked-pids.ts';
import { expectUnharmed, openRunRoom, type RunRoom } from './run-room.ts';
import { fanOut } from './run-scenarios.ts';
import { leave, type Scenario } from './scenario-parts.ts';
import { openSmallDisk, type SmallDisk } from './small-disk.ts';
import { git } from './git.ts';
import { stateOf } from './state.ts';

/** When the disk is full: at the first line of `run --json` that fits, or so many ms after the start. */
export type Moment = number | ((line: Record<string, unknown>) => boolean);

const MEGABYTES = 64;
/** The bar is 5 s; a busy machine starts the settling processes late. */
const MOST_PAUSE_MS = 5_000;
const NODE_CACHE = { NODE_COMPILE_CACHE: join(tmpdir(), 'squad-test-compile-cache') };

/** The next turn of an agent that could not write: its turn failed, or its commit is missing. */
function secondTries(id: string, effects: string): object[] {
  const make = id === 'both' ? 'cat left.txt right.txt > both.txt' : `echo ${id} > ${id}.txt`;
  const finish = `${make} && git add --all && { git diff --cached --quiet || git commit --quiet --message 'Make ${id}'; }`;
  const steps = [leave(id, effects), { run: ['/bin/sh', '-c', finish] }, { answer: 'done' }];
  return [`last turn on task ${id} was cut short`, `You said that task ${id} is done`].map((when) => ({ when, steps }));
}

function scenario(): Scenario {
  const whole = fanOut(300);
  return {
    ...whole,
    script: (effects) => ({
      turns: [...['left', 'right', 'both'].flatMap((id) => secondTries(id, effects)), ...whole.script(effects).turns],
    }),
  };
}

/**
 * One run whose disk is full from a moment on: paused with its reason and exit 75, in one message; with space again a
 * resume completes it, and nothing that was acknowledged is lost. Returns how long the pause took, in ms.
 */
export async function fullDiskTrial(moment: Moment): Promise<number | 'over'> {
  const disk = openSmallDisk(MEGABYTES);
  if (disk === undefined) throw new Error('no disk can be mounted here');
  try {
    const room = disk.within(() => openRunRoom(scenario()));
    const paused = await runIntoFullDisk(room, disk, moment);
    disk.free();
    if (paused === 'over') return paused;
    await expectCompletion(room);
    return paused;
  } finally {
    disk.close();
  }
}

async function runIntoFullDisk(room: RunRoom, disk: SmallDisk, moment: Moment): Promise<number | 'over'> {
  const engine = room.begin(NODE_CACHE);
  if (typeof moment === 'number') {
    await new Promise((resolve) => {
      setTimeout(resolve, moment);
    });
  } else await engine.line(moment);
  disk.fill();
  const since = performance.now();
  const end = await engine.finished;
  const took = performance.now() - since;
  if (end.code === 0) return 'over';
  expect(end.code, end.stdout + end.stderr).toBe(75);
  expect(end.stderr).toMatch(/^squad: .*(?:no space|refused)[^\n]*\nNext: [^\n]*`squad (?:resume|db check)`[^\n]*\n$/i);
  expect(took).toBeLessThan(MOST_PAUSE_MS);
  return took;
}

async function expectCompletion(room: RunRoom): Promise<void> {
  const before = room.reading();
  const acked = before?.attempts.filter(({ settlement }) => settlement !== undefined) ?? [];
  const last = await (before === undefined ? room.begin(NODE_CACHE) : room.resume(NODE_CACHE)).finished;
  expect(last.code, last.stdout + last.stderr).toBe(0);
  const after = room.reading();
  for (const { attempt, settlement } of acked) {
    expect(after?.attempts.find((other) => other.attempt.id === attempt.id)?.settlement).toEqual(settlement);
  }
  expect(after?.board.finished?.outcome).toBe('done');
  expect(git(room.repository, 'show', 'squad/fan-out:both.txt')).toBe('left\nright');
  expect(existsSync(join(stateOf(room.repository), 'turns', '.probe'))).toBe(false);
  expect(livingTurns(stateOf(room.repository))).toEqual([]);
  expectUnharmed(room);
}

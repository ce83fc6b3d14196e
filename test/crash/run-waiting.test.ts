// @module-tag all
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { markedPids } from '../support/marked-pids.ts';
import { effectsOf, endStateOf, expectUnharmed, openRunRoom, type RunRoom } from '../support/run-room.ts';
import { fanOut } from '../support/run-scenarios.ts';
import { ALL } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';

const TURN_MS = 4_000;
const PATIENCE = 120_000;

function slowRoom(turnMs = TURN_MS): RunRoom {
  const room = openRunRoom(fanOut(turnMs));
  onTestFinished(() => room.close());
  return room;
}

const DONE_ONCE = ['both', 'left', 'plan', 'right'];

/** Both pieces are at work: their agents have begun, and sleep. */
async function untilBothWork(room: RunRoom): Promise<void> {
  const begun = (): boolean => ['left ', 'right '].every((id) => effectsOf(room).some((line) => line.startsWith(id)));
  for (let waited = 0; !begun(); waited += 50) {
    if (waited > PATIENCE) throw new Error(`nobody works: ${effectsOf(room).join(', ')}`);
    await sleep(50);
  }
}

/** Ids of the turns that have a process now. */
function working(room: RunRoom): string[] {
  const turns = readdirSync(join(stateOf(room.repository), 'turns'));
  return turns.filter((id) => /\.(?:left|right)-\d+$/.test(id) && markedPids(id).length > 0).toSorted();
}

function expectDoneOnce(room: RunRoom): void {
  expect(endStateOf(room)).toMatchObject({ outcome: 'done', kept: [] });
  expect(endStateOf(room).effects.filter((label) => label !== 'setup' && label !== 'verify')).toEqual(DONE_ONCE);
  const turns = room.reading()?.attempts.filter(({ attempt }) => attempt.kind === 'turn') ?? [];
  expect(turns.map(({ settlement }) => settlement?.result.outcome)).toEqual(DONE_ONCE.map(() => 'completed'));
  expectUnharmed(room);
}

it(
  'killed while it waits: the living turns outlive it, are adopted, and their results count',
  async () => {
    const room = slowRoom();
    const first = room.begin();
    await untilBothWork(room);
    first.child.kill('SIGKILL');
    expect((await first.finished).signal).toBe('SIGKILL');
    const alive = working(room);
    expect(alive).toHaveLength(2);
    const end = await room.resume().finished;
    expect(end.code, end.stderr).toBe(0);
    const taken = end.lines.filter(({ type, how }) => type === 'attempt-taken' && how === 'attached');
    expect(taken.map(({ attemptId }) => attemptId)).toEqual(expect.arrayContaining(alive));
    expectDoneOnce(room);
  },
  PATIENCE,
);

it(
  'killed while it waits, and resumed after its turns have ended: what they did is harvested',
  { ...ALL, timeout: PATIENCE },
  async () => {
    const room = slowRoom();
    const first = room.begin();
    await untilBothWork(room);
    first.child.kill('SIGKILL');
    await first.finished;
    const alive = working(room);
    while (working(room).length > 0) await sleep(100);
    const end = await room.resume().finished;
    expect(end.code, end.stderr).toBe(0);
    const ended = end.lines.filter(({ type, outcome }) => type === 'attempt-ended' && outcome === 'completed');
    expect(ended.map(({ attemptId }) => attemptId)).toEqual(expect.arrayContaining(alive));
    expectDoneOnce(room);
  },
);

it(
  'a second engine is turned away within a second, and the first one does not feel it',
  { ...ALL, timeout: PATIENCE },
  async () => {
    const room = slowRoom(10_000);
    const first = room.begin();
    await untilBothWork(room);
    // What it takes to start the program at all, on this machine and now: `resume` loads as much and finds nothing.
    const empty = openRunRoom(fanOut(0));
    onTestFinished(() => empty.close());
    const beyond: number[] = [];
    // The least of three, because others use this machine too.
    for (let look = 0; look < 3 && !beyond.some((ms) => ms < 1_000); look += 1) {
      const started = await timed(() => empty.resume().finished);
      expect(started.end.code).toBe(2);
      const refused = await timed(() => room.resume().finished);
      expect(refused.end.code, refused.end.stderr).toBe(75);
      expect(refused.end.stderr).toContain('Next:');
      beyond.push(refused.ms - started.ms);
    }
    expect(Math.min(...beyond)).toBeLessThan(1_000);
    expect((await first.finished).code).toBe(0);
    expectDoneOnce(room);
  },
);

async function timed<T>(work: () => Promise<T>): Promise<{ end: T; ms: number }> {
  const start = performance.now();
  const end = await work();
  return { end, ms: performance.now() - start };
}

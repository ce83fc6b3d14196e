// @module-tag all
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { killAll, livingTurns, markedPids } from '../support/marked-pids.ts';
import { ALL, some, SPREAD } from '../support/lane.ts';
import { inRunRoom, type RunRoom } from '../support/run-room.ts';
import { fanOut } from '../support/run-scenarios.ts';
import { jsonLines, type Finished } from '../support/engine.ts';
import { stateOf } from '../support/state.ts';

/** Turns that end only if they are ended. */
const LONG_TURNS = fanOut(30_000);
/** Where an engine breaks: the checks and the planner have had six starts, and the pieces get these. */
const STARTS = [7, 8];

const livingAttempts = (room: RunRoom): string[] =>
  globSync(join(stateOf(room.repository), 'turns', '*'))
    .map((path) => basename(path))
    .filter((id) => markedPids(id).length > 0);

/** Whatever an engine said at its end, each turn that lives is named with the command that ends it, and that one does. */
async function expectNamedAndEnded(room: RunRoom, said: string): Promise<number> {
  const living = livingAttempts(room);
  for (const id of living)
    expect(said).toMatch(new RegExp(`still running without an engine: [^\\n]*${id} \\(pid \\d+\\)`));
  if (living.length > 0) expect(said).toContain('`squad stop fan-out` ends them');
  await expectStopped(room);
  return living.length;
}

async function expectStopped(room: RunRoom): Promise<void> {
  const stopped = await room.run(['stop', 'fan-out']);
  expect(stopped.code, stopped.stderr).toBe(0);
  expect(livingTurns(stateOf(room.repository))).toEqual([]);
  expect((await room.run(['db', 'check'])).code).toBe(0);
}

async function inLongRoom<T>(work: (room: RunRoom) => Promise<T>): Promise<T> {
  return inRunRoom(LONG_TURNS, async (room) => {
    try {
      return await work(room);
    } finally {
      killAll(livingTurns(stateOf(room.repository)));
    }
  });
}

async function breakAt(room: RunRoom, point: string, environment: Record<string, string> = {}): Promise<Finished> {
  return room.begin({ SQUAD_FAILPOINTS: point, ...environment }).finished;
}

describe('an engine that breaks', () => {
  const breaks = STARTS.flatMap((start) => ['throw-later', 'reject'].map((how) => `process.after-go:${start}=${how}`));

  it.each(some(breaks.toReversed(), 0, 1))(
    '%s: exit 70 with a sentence; its turns are named, and `squad stop` ends them',
    { ...SPREAD, timeout: 60_000 },
    async (point) =>
      inLongRoom(async (room) => {
        const end = await breakAt(room, point);
        expect(end.code, end.stderr).toBe(70);
        expect(end.stderr).toMatch(/^squad: squad broke in the middle of the command[^\n]*failpoint[^\n]*\nNext: /);
        expect(jsonLines(end.stdout).at(-1)).toMatchObject({ type: 'run-ended', outcome: 'interrupted', exitCode: 70 });
        expect(await expectNamedAndEnded(room, end.stderr)).toBeGreaterThan(0);
      }),
  );
});

describe('an engine that was killed', () => {
  it.each(some(STARTS.toReversed(), 0, 1))(
    'at the start of turn %i: `squad stop` ends all processes of its turns',
    { ...SPREAD, timeout: 60_000 },
    async (start) =>
      inLongRoom(async (room) => {
        expect((await breakAt(room, `process.after-go:${start}=kill`)).signal).toBe('SIGKILL');
        expect(livingAttempts(room)).not.toEqual([]);
        await expectStopped(room);
      }),
  );

  it('and whose successor gives up before it works: that one names the turns', { ...ALL, timeout: 60_000 }, async () =>
    inLongRoom(async (room) => {
      expect((await breakAt(room, 'process.after-go:8=kill')).signal).toBe('SIGKILL');
      const end = await room.resume({ SQUAD_FAILPOINTS: 'ledger.before-commit:1=throw' }).finished;
      expect(end.code, end.stdout).not.toBe(0);
      expect(await expectNamedAndEnded(room, end.stdout + end.stderr)).toBeGreaterThan(0);
    }),
  );
});

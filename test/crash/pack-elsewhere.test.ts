// @module-tag all
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { consentIn, followSteps } from '../support/damages/follow-steps.ts';
import { endTurns, LONG_FAN_OUT } from '../support/damages/room.ts';
import { elsewhere, prepare, settledIn, stateBelow, timesOf } from '../support/elsewhere.ts';
import { git } from '../support/git.ts';
import { some, SPREAD } from '../support/lane.ts';
import { inRunRoom, type RunRoom } from '../support/run-room.ts';
import { stateOf } from '../support/state.ts';

interface Packed {
  readonly lost: readonly object[];
  readonly runs: readonly { readonly name: string; readonly unfinished: boolean }[];
}

function removeSource(room: RunRoom): void {
  endTurns(room);
  rmSync(dirname(stateOf(room.repository)), { recursive: true, force: true });
  rmSync(room.repository, { recursive: true, force: true });
}

const SECRET = 'canary-4f1c0e77d5b94f0c';

async function packedElsewhere(room: RunRoom, afterMs: number, isKilled: boolean): Promise<void> {
  prepare(room);
  const { clone, home } = elsewhere(room);
  const pack = join(room.root, 'runs.tar');
  const engine = room.begin({ CANARY_TOKEN: SECRET });
  await engine.line(({ type }) => type === 'run-started');
  await sleep(afterMs);
  if (isKilled) {
    engine.child.kill('SIGKILL');
    await engine.finished;
  }
  const { code, stderr, lines } = await room.run(['pack', pack, '--json']);
  expect(code, stderr).toBe(0);
  const packed = lines[0] as unknown as Packed;
  expect(packed.lost).toEqual([]);
  engine.child.kill('SIGKILL');
  await engine.finished;
  removeSource(room);
  expect(readFileSync(pack).includes(SECRET)).toBe(false);
  const taken = followSteps({ root: room.root, cwd: clone, home }, [`squad unpack '${pack}' --json`]);
  expect(taken.code, taken.said).toBe(0);
  const directory = stateBelow(home);
  const paid = settledIn(directory);
  const done = new Map(paid.map((task) => [task, timesOf(room, task)]));
  const before = checkLedger(ledgerPath(directory));
  expect([...before.problems, ...before.violations]).toEqual([]);
  if (packed.runs[0]?.unfinished === true) {
    const asked = followSteps({ root: room.root, cwd: clone, home }, ['squad resume']);
    const next = consentIn(asked.said);
    expect([asked.code, next]).toEqual([78, expect.any(String)]);
    const resumed = followSteps({ root: room.root, cwd: clone, home }, [next ?? '']);
    expect(resumed.code, resumed.said).toBe(0);
  }
  expect(git(clone, 'show', 'squad/fan-out:both.txt')).toBe('left\nright');
  const after = checkLedger(ledgerPath(directory));
  expect([...after.problems, ...after.violations]).toEqual([]);
  const again = paid.filter((task) => timesOf(room, task) !== done.get(task));
  expect(again).toEqual([]);
}

const MOMENTS = Array.from({ length: 50 }, (_, index) => [index * 70, index % 2 === 0] as const);

it.each(some([...MOMENTS], 0, 1))(
  'runs that are packed after %i ms (engine killed: %s) end elsewhere as here, and no paid turn is had again',
  { ...SPREAD, timeout: 120_000 },
  async (afterMs, isKilled) => {
    await inRunRoom(LONG_FAN_OUT, async (room) => packedElsewhere(room, afterMs, isKilled));
  },
);

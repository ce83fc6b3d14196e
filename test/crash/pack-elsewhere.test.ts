// @module-tag all
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath, openLedger } from '../../src/substrate/ledger/index.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { consentIn, followSteps } from '../support/damages/follow-steps.ts';
import { endTurns, LONG_FAN_OUT } from '../support/damages/room.ts';
import { git } from '../support/git.ts';
import { some, SPREAD } from '../support/lane.ts';
import { effectsOf, inRunRoom, type RunRoom } from '../support/run-room.ts';
import { stateOf } from '../support/state.ts';

interface Packed {
  readonly lost: readonly object[];
  readonly runs: readonly { readonly name: string; readonly unfinished: boolean }[];
}

/** Its script is a file of the repository, and its environment has a secret. */
function prepare(room: RunRoom): void {
  const { repository } = room;
  const settings = readFileSync(join(repository, 'squad.yaml'), 'utf8');
  const [script = ''] = /\S+script\S*\.json/.exec(settings)?.map((path) => path.replaceAll(/["',]/g, '')) ?? [];
  renameSync(script, join(repository, 'script.json'));
  writeFileSync(join(repository, 'squad.yaml'), settings.replaceAll(script, 'script.json'));
}

/** Clone with another path, home and state folder, and nothing of the source but the commit that the run began with. */
function elsewhere(room: RunRoom): { clone: string; home: string } {
  const home = join(room.root, 'other home');
  mkdirSync(home);
  const clone = join(home, 'pro ject');
  execFileSync('git', ['clone', '-q', '--no-hardlinks', '--single-branch', room.repository, clone]);
  git(clone, 'config', 'user.name', 'Test');
  git(clone, 'config', 'user.email', 'test@example.invalid');
  writeFileSync(join(clone, 'script.json'), readFileSync(join(room.repository, 'script.json')));
  return { clone, home };
}

function removeSource(room: RunRoom): void {
  endTurns(room);
  rmSync(dirname(stateOf(room.repository)), { recursive: true, force: true });
  rmSync(room.repository, { recursive: true, force: true });
}

/** How often a task's turn was really had. */
function timesOf(room: RunRoom, task: string): number {
  return effectsOf(room).filter((line) => line.split(' ')[0] === task).length;
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
  const [state = ''] = readdirSync(join(home, 'state', 'squad')).filter((name) => /-[0-9a-f]{16}$/.test(name));
  const directory = join(home, 'state', 'squad', state);
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

/** The tasks with a paid turn. */
function settledIn(directory: string): string[] {
  const ledger = openLedger(directory, { clock: createSystemClock(), readOnly: true });
  try {
    const paid = ledger
      .attempts({ status: 'settled' })
      .filter(({ id }) => ledger.settlement(id)?.result.outcome === 'completed');
    return [...new Set(paid.flatMap(({ kind, taskId }) => (kind === 'turn' ? [taskId] : [])))];
  } finally {
    ledger.close();
  }
}

const MOMENTS = Array.from({ length: 50 }, (_, index) => [index * 70, index % 2 === 0] as const);

it.each(some([...MOMENTS], 3, 1))(
  'runs that are packed after %i ms (engine killed: %s) end elsewhere as here, and no paid turn is had again',
  { ...SPREAD, timeout: 120_000 },
  async (afterMs, isKilled) => {
    await inRunRoom(LONG_FAN_OUT, async (room) => packedElsewhere(room, afterMs, isKilled));
  },
);

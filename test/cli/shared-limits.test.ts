import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { lockService } from '../../src/squad/service/service-lock.ts';
import { holderHere } from '../../src/substrate/ledger/index.ts';
import { newStateOf, stateOf } from '../support/state.ts';
import { definition, RecordedRun } from '../view/report/support.ts';
import { commandRoom, scriptedTurn } from './room.ts';
import { ALL } from '../support/lane.ts';

/** A repository in which one run has had a turn today. `limits`: of all runs. */
function roomWithLimits(limits?: object) {
  const room = commandRoom();
  const run = new RecordedRun(definition(), newStateOf(room.repository)).allocate();
  run.clock.time = Date.now();
  run.turn('a', 1, 'builder-1', {});
  if (limits !== undefined)
    run.ledger.writeRecord({ kind: 'limits', id: 'day', value: { timezone: 'UTC', limits } as never });
  run.close();
  return room;
}

it.each([
  ['squad runs', ['runs']],
  ['squad serve status', ['serve', 'status']],
])('%s shows how much of the limits of a day is used, and until when nothing starts', async (_, words) => {
  const capped = (await roomWithLimits({ turnsPerDay: 1 }).run(words)).stdout;
  expect(capped).toContain('1 of 1 turns started today (reached)');
  expect(capped).toMatch(/no turn starts before .*, midnight in UTC/);
  const free = (await roomWithLimits({ turnsPerDay: 9 }).run(words)).stdout;
  expect(free).toContain('1 of 9 turns started today');
  expect(free).not.toContain('no turn starts');
  expect((await roomWithLimits().run(words)).stdout).not.toContain('today');
});

it('squad serve status --json has them as squad status has, where they are set', async () => {
  const shown = async (limits?: object) =>
    (await roomWithLimits(limits).run(['serve', 'status', '--json'])).lines[0]?.['sharedLimits'];
  expect(await shown({ runsPerDay: 1 })).toMatchObject({
    timezone: 'UTC',
    caps: [{ cap: 'runsPerDay', used: 1, most: 1, reached: true }],
    reachedUntil: expect.any(Number),
  });
  expect(await shown()).toBeUndefined();
});

it('squad add says that a service which runs here starts the run', ALL, async () => {
  const room = commandRoom();
  const [, ...given] = scriptedTurn(room, [{ answer: 'done' }]);
  const add = async (name: string) => (await room.run(['add', ...given, '--name', name])).stdout;
  expect(await add('one')).toContain('No engine works here: `squad resume --all` starts the queue.');
  const lock = lockService(stateOf(room.repository), holderHere(process.pid, Date.now()));
  onTestFinished(() => lock.release());
  expect(await add('two')).toContain('`squad serve` runs here and starts it');
});

it('squad status of a run of the queue says until when a limit of the day holds it', ALL, async () => {
  const room = roomWithLimits({ runsPerDay: 1 });
  const [, ...given] = scriptedTurn(room, [{ answer: 'done' }]);
  const file = join(room.repository, 'squad.yaml');
  const settings = existsSync(file) ? (parse(readFileSync(file, 'utf8')) as object) : { version: 1 };
  writeFileSync(file, JSON.stringify({ ...settings, serve: { limits: { runsPerDay: 1 } } }));
  const added = await room.run(['add', ...given, '--name', 'next']);
  expect(added.code, added.stderr).toBe(0);
  const { stdout } = await room.run(['status', 'next']);
  expect(stdout).toMatch(/\nwaits\n {2}until .*: 1 of 1 runs started today \(all runs of this repository\)\n/);
});

// @module-tag all
import { expect, it } from 'vitest';
import { openMachine } from '../../src/engine/machine.ts';
import { waitForChange } from '../../src/squad/wait-for-change.ts';
import { commandRoom } from '../cli/room.ts';
import { newStateOf } from '../support/state.ts';
import { testHost } from '../support/test-host.ts';
import { definition, play, RecordedRun } from '../view/report/support.ts';

/** A run that an engine works on. `step`: how far the time of day goes at each pause. */
function room(step: number) {
  const { root, repository } = commandRoom();
  const about = { ...definition(), name: 'one' };
  const { entries } = play(about);
  const run = new RecordedRun(about, newStateOf(repository)).allocate().plan(entries.slice(0, 2));
  const finish = (): void => {
    run.plan(entries.slice(2)).publish();
    run.ledger.releaseLease(run.lease);
  };
  const host = testHost(root, { workingDirectory: repository });
  const time = { now: Date.now(), passed: 0, pauses: 0 };
  const clock = {
    now: () => time.now,
    monotonic: () => time.passed,
    sleep: async (ms: number): Promise<void> => {
      [time.now, time.passed, time.pauses] = [time.now + step, time.passed + ms, time.pauses + 1];
      if (time.pauses > 100) throw new Error('it waits longer than it was asked to');
      return Promise.resolve();
    },
  };
  return { run, finish, time, place: { host, composition: { ...openMachine(host), clock } } };
}

it.each([500, 0, -3_600_000, 3_600_000])(
  'waits as long as it was asked to, if the clock goes %i ms each time',
  async (step) => {
    const { run, time, place } = room(step);
    expect(await waitForChange(place, 'one', { ms: 10_000 })).toMatchObject({
      changed: false,
      status: { name: 'one' },
    });
    expect(time.passed).toBe(10_000);
    run.close();
  },
);

it('returns at the first look that finds a change, and at once where the run is over', async () => {
  const { run, finish, time, place } = room(0);
  const onLook = (passed: number): void => void (passed === 1_000 && finish());
  const { changed, status } = await waitForChange(place, 'one', { ms: 10_000, onLook });
  expect([changed, time.passed, status.outcome === null]).toEqual([true, 1_500, false]);
  expect((await waitForChange(place, 'one', { ms: 10_000 })).changed).toBe(false);
  expect(time.passed).toBe(1_500);
  run.close();
});

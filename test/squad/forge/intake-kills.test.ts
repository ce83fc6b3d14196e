// @module-tag all
import { expect, it, onTestFinished } from 'vitest';
import type { NotDone } from '../../../src/substrate/ports/forge-answer.ts';
import { armFailpoints } from '../../../src/substrate/system/failpoint.ts';
import { createRandom } from '../../support/random.ts';
import { NIGHT, spread, SPREAD } from '../../support/lane.ts';
import { intakeRoom, type IntakeRoom } from './intake-room.ts';

const POINTS = ['forge.decided', 'forge.acted', 'forge.said', 'forge.labelled', 'forge.submitted', 'submitted.named'];
const LATER: NotDone = { type: 'later', why: '429 Too many requests', afterMs: 90_000 };

/** What is at the forge and on record, however often a step was cut short. */
function expectOnce(room: IntakeRoom, numbers: readonly number[]): void {
  for (const number of numbers) {
    const markers = room.posts(number).map((body) => body.split('\n')[0]);
    expect(markers, `posts at ${number}`).toHaveLength(new Set(markers).size);
  }
  const runs = room.allRuns();
  for (const number of numbers) {
    const own = runs.filter(
      (name) => name === `issue-${number}-fix-${number}` || name.startsWith(`issue-${number}-fix-${number}-`),
    );
    expect(own.length, `runs of ${number}`).toBeLessThanOrEqual(1);
  }
}

it(
  'cut short between seeing and doing, and with answers that are lost: nothing is taken or said twice',
  { ...SPREAD, timeout: 900_000 },
  async () => {
    const random = createRandom(39);
    onTestFinished(() => armFailpoints(''));
    const kills = spread(6, 300, 30);
    const room = await intakeRoom({ max: 2 });
    const numbers = [1, 2, 3, 4];
    for (const number of numbers) {
      room.issue(number);
      room.label(number, 'squad', 'ann');
    }
    const cuts: unknown[] = [];
    for (let left = kills * 20; left > 0 && cuts.length < kills; left -= 1) {
      armFailpoints(`${POINTS[Math.floor(random() * POINTS.length)]}=throw`);
      room.fake.fault = (verb) => (verb !== 'list' && random() < 0.2 ? 'cut' : undefined);
      await room.step().catch((error: unknown) => void cuts.push(error));
      armFailpoints('');
      expectOnce(room, numbers);
      expect(room.open().length).toBeLessThanOrEqual(2);
      room.pass(3_600_000);
      if (random() < 0.3) {
        const [name] = room.open();
        if (name !== undefined) await room.end(name);
      }
      // Begun anew, so that there is something to do.
      if (room.open().length === 0 && room.allRuns().length === numbers.length) {
        for (const number of numbers) expect(room.records().find((one) => one.number === number)).toBeDefined();
        const next = numbers.length + 1;
        numbers.push(next);
        room.issue(next);
        room.label(next, 'squad', 'owner');
      }
    }
    room.fake.fault = () => undefined;
    for (let left = numbers.length * 2; left > 0; left -= 1) {
      room.pass(3_600_000);
      await room.step();
      for (const name of room.open()) await room.end(name);
    }
    await room.step();
    expect(cuts).toHaveLength(kills);
    expectOnce(room, numbers);
    expect(room.records().map(({ over }) => over)).toEqual(numbers.map(() => true));
    for (const number of numbers) expect(room.state.issues.get(number)?.labels).toEqual(['squad', 'squad:done']);
  },
);

it(
  'fifty issues, three at once, in their order, through limits and an hour without a network',
  { ...NIGHT, timeout: 900_000 },
  async () => {
    const random = createRandom(50);
    const room = await intakeRoom({ max: 3 });
    const ranks = ['priority: high', 'priority: low', ''];
    for (let number = 1; number <= 50; number += 1) {
      const label = ranks[number % 3] ?? '';
      room.issue(number, { labels: label === '' ? [] : [label] });
      room.label(number, 'squad', 'ann');
    }
    const begun: string[] = [];
    for (let round = 0; round < 400 && begun.length < 50; round += 1) {
      const isOffline = round > 20 && round < 24;
      room.fake.fault = () => (isOffline || random() < 0.05 ? LATER : undefined);
      await room.step();
      room.pass(isOffline ? 1_200_000 : 600_000);
      const open = room.open();
      expect(open.length).toBeLessThanOrEqual(3);
      begun.push(...room.allRuns().filter((name) => !begun.includes(name)));
      for (const name of open) if (random() < 0.6) await room.end(name);
    }
    expect(begun).toHaveLength(50);
    const rankOf = (name: string): number => [2, 0, 1][Number(name.split('-')[1]) % 3] ?? 0;
    expect(begun.map(rankOf)).toEqual(begun.map(rankOf).toSorted((a, b) => b - a));
  },
);

import { describe, expect, it } from 'vitest';
import { decideKeep, type KeepSetting } from '../../src/model/keep.ts';
import { canBeDue, decideTidying, soonestOf, type KeptRun } from '../../src/rules/tidying.ts';
import { createRandom } from '../support/random.ts';

const DAY = 24 * 60 * 60 * 1000;
const NOW = 1000 * DAY;

interface Run extends KeptRun {
  readonly createdAt: number;
}

function runFrom(random: () => number, index: number): Run {
  const createdAt = NOW - Math.floor(random() * 120) * DAY;
  const endedAt = random() < 0.2 ? null : createdAt + Math.floor(random() * (NOW - createdAt + 1));
  const work = { ref: `refs/squad/${index}/a-1`, at: 'a'.repeat(40), kind: 'work', isMerged: random() < 0.7 } as const;
  const refs = [{ ...work, isCheckedOut: false }];
  const left = { turns: ['t'], hasFiles: true, hasCopies: random() < 0.5, checkpoints: random() < 0.5 ? 0 : 3 };
  return { id: `${index}`, name: `run-${index}`, createdAt, endedAt, ...left, refs };
}

function settingFrom(random: () => number): Exclude<KeepSetting, readonly unknown[]> {
  const one = <T>(...all: T[]): T => all[Math.floor(random() * all.length)] as T;
  return {
    output: one('all', '1d', '30d'),
    refs: one('all', '20d', '90d'),
    checkpoints: one('all', '7d', '50d'),
    branches: one('all', 'until-merged'),
    runs: one<number | string>('all', 1, '40d'),
  };
}

describe('whether anything can be due, by the beginnings of runs', () => {
  it('is no where nothing is due at all, in no case', () => {
    const random = createRandom(7);
    let no = 0;
    for (let trial = 0; trial < 2000; trial += 1) {
      const runs = Array.from({ length: Math.floor(random() * 4) }, (_, index) => runFrom(random, index));
      const keep = decideKeep(undefined, settingFrom(random));
      if (canBeDue(runs, keep, NOW)) continue;
      no += 1;
      expect(decideTidying(runs, keep, NOW).due).toEqual([]);
    }
    expect(no).toBeGreaterThan(100);
  });

  it('is no of a run before its soonest moment, and the next thing of it does not come before', () => {
    const random = createRandom(8);
    let [sooner, later] = [0, 0];
    for (let trial = 0; trial < 2000; trial += 1) {
      const { createdAt, ...run } = runFrom(random, 0);
      const keep = decideKeep(undefined, { ...settingFrom(random), runs: random() < 0.5 ? 'all' : '40d' });
      const soonest = soonestOf(createdAt, run, keep);
      const { due, next } = decideTidying([run], keep, NOW);
      if (soonest > NOW) expect(due).toEqual([]);
      expect(next?.at ?? Infinity).toBeGreaterThanOrEqual(soonest);
      if (soonest > NOW) later += 1;
      else sooner += 1;
    }
    expect(Math.min(sooner, later)).toBeGreaterThan(50);
  });

  it.each<[string, KeepSetting, boolean]>([
    ['the shortest age counts', { output: '30d', refs: '10d' }, true],
    ['nothing is as old', { output: '30d', refs: '90d', checkpoints: '30d' }, false],
    ['checkpoints are as old', { output: '30d', refs: '90d', checkpoints: '10d' }, true],
    ['nothing goes by age', { output: 'all', refs: 'all', checkpoints: 'all' }, false],
    ['a merged branch goes at once', { branches: 'until-merged' }, true],
    ['runs are counted', { runs: 5 }, true],
  ])('%s', (_, setting, expected) => {
    expect(canBeDue([{ createdAt: NOW - 20 * DAY }], decideKeep(undefined, setting), NOW)).toBe(expected);
  });
});

import { expect, it } from 'vitest';
import { priorityRank, priorityWarnings } from '../../src/model/priority.ts';
import { runsToSweep, type Unfinished } from '../../src/view/unfinished.ts';

it.each<[string, number | undefined]>([
  ['High', 1],
  [' medium ', 0],
  ['LOW', -1],
  ['12', 12],
  ['-3', -3],
  ['P0', undefined],
  ['very high', undefined],
  ['1e9', undefined],
  ['constructor', undefined],
  ['', undefined],
])('the priority %j', (text, rank) => {
  expect(priorityRank(text)).toBe(rank);
  expect(priorityWarnings(text)).toHaveLength(rank === undefined ? 1 : 0);
});

it('a sweep takes the higher priority first, then the older run, and leaves what a person has to decide', () => {
  const run = (name: string, more: Partial<Unfinished> = {}): Unfinished => {
    return { runId: name, name, need: 'cut', why: '', createdAt: 0, priority: undefined, submitted: false, ...more };
  };
  const all = [
    run('newest'),
    run('words', { priority: 'when you can' }),
    run('low', { priority: 'low' }),
    run('high', { priority: 'High' }),
    run('high-too', { priority: 'high', need: 'gone' }),
    run('ten', { priority: '10' }),
    run('late', { priority: 'high', need: 'limited' }),
    run('asks', { priority: 'high', need: 'asks' }),
    run('oldest'),
  ];
  expect(runsToSweep({ record: () => undefined }, all).map(({ name }) => name)).toEqual([
    ...['ten', 'high-too', 'high', 'oldest', 'words', 'newest', 'low'],
  ]);
});

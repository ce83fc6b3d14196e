import { describe, expect, it } from 'vitest';
import { cascadesOf, cascadeText, type CascadeTask } from '../../src/model/plan/cascade.ts';

const task = (id: string, status: string, needs: string[] = [], touched = false): CascadeTask => ({
  ...{ id, status, needs, touched },
});

describe('tasks that were cancelled with a task that they need', () => {
  it.each<[string, CascadeTask[], object]>([
    ['none', [task('a', 'done'), task('b', 'failed')], {}],
    ['directly', [task('a', 'failed'), task('b', 'cancelled', ['a'])], { a: ['b'] }],
    [
      'through others, also planned before them',
      [task('c', 'cancelled', ['b']), task('b', 'cancelled', ['a']), task('a', 'failed')],
      { a: ['c', 'b'] },
    ],
    ['of one that a person cancelled', [task('a', 'cancelled'), task('b', 'cancelled', ['a'])], { a: ['b'] }],
    [
      'of two that failed: told with the first',
      [task('a', 'failed'), task('b', 'failed'), task('c', 'cancelled', ['b', 'a'])],
      { b: ['c'] },
    ],
    ['not one that had a turn', [task('a', 'failed'), task('b', 'cancelled', ['a'], true)], {}],
    [
      'but those that need that one',
      [task('a', 'failed'), task('b', 'cancelled', ['a'], true), task('c', 'cancelled', ['b'])],
      { b: ['c'] },
    ],
    ['not without such a need', [task('a', 'failed'), task('b', 'done'), task('c', 'cancelled', ['b'])], {}],
    ['not of a need that is not listed', [task('b', 'cancelled', ['a'])], {}],
  ])('%s', (_what, tasks, expected) => {
    expect(Object.fromEntries(cascadesOf(tasks))).toEqual(expected);
  });

  it.each([
    [1, undefined, '1 task that needs it was cancelled'],
    [11, 'stage', '11 stages that need it were cancelled'],
  ])('are counted', (count, of, text) => {
    expect(cascadeText(count, of)).toBe(text);
  });
});

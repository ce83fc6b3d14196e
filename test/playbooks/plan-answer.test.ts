import { describe, expect, it } from 'vitest';
import { checkPlan, readPlanAnswer, sharedFiles, type PlannedTask } from '../../src/playbooks/delivery/plan-answer.ts';
import { sortByNeeds } from '../../src/playbooks/shared/sort-by-needs.ts';

function task(id: string, more: Partial<PlannedTask> = {}): PlannedTask {
  return {
    id,
    title: id,
    role: 'builder',
    needs: [],
    files: [],
    brief: `Build ${id}.`,
    acceptance: ['it works'],
    ...more,
  };
}

function problems(...tasks: PlannedTask[]): readonly string[] {
  const checked = checkPlan({ summary: '', tasks, cannot: null }, ['builder']);
  return checked.ok ? [] : checked.problems;
}

describe('what a planner is told about its plan', () => {
  it('is every problem of it, each with its task', () => {
    expect(problems(task('A'), task('b', { needs: ['x', 'b'], role: 'wizard' }), task('b'))).toEqual([
      'task 1 (A): the id must be lower case letters, digits and dashes, at most 24',
      'task 2 (b): it needs itself',
      'task 2 (b): it needs x, which is not in the plan',
      'task 2 (b): no agent has the role wizard; roles: builder',
      'task 3 (b): the id is used twice',
    ]);
  });

  it('shows what a name hides', () => {
    expect(problems(task('b', { needs: ['x\u202ey\n'] }))).toEqual([
      String.raw`task 1 (b): it needs x\u202ey, which is not in the plan`,
    ]);
  });

  it('has room in a turn, however much is wrong', () => {
    const needs = Array.from({ length: 9_000 }, (_item, index) => `n-${index}`);
    const told = problems(task('x'.repeat(100_000), { needs, role: 'y'.repeat(100_000) }));
    expect(told).toHaveLength(21);
    expect(told.at(-1)).toBe('and 8982 more problems');
    expect(told.join('\n').length).toBeLessThan(10_000);
  });

  it('is one thing where there are far too many tasks', () => {
    expect(problems(...Array.from({ length: 51 }, () => task('A')))).toEqual([
      'the plan has 51 tasks; at most 50 are allowed',
    ]);
  });
});

describe('sortByNeeds', () => {
  it('puts needs first, otherwise in the order given', () => {
    const tasks = [task('d', { needs: ['b', 'c'] }), task('c', { needs: ['a', 'a'] }), task('a'), task('b'), task('e')];
    expect(sortByNeeds(tasks).map(({ id }) => id)).toEqual(['a', 'b', 'e', 'c', 'd']);
  });

  it('leaves out circles, and what is behind them or needs what is not there', () => {
    const tasks = [
      task('a', { needs: ['b'] }),
      task('b', { needs: ['a'] }),
      task('c', { needs: ['b'] }),
      task('d', { needs: ['nobody'] }),
      task('e'),
    ];
    expect(sortByNeeds(tasks).map(({ id }) => id)).toEqual(['e']);
  });
});

describe('files that two tasks change', () => {
  const both = (one: string[], other: string[], needs: string[] = []) =>
    sharedFiles([task('a', { files: one }), task('b', { files: other, needs })]);

  it.each<[string[], string[]]>([
    [['src/a.ts'], ['src/a.ts']],
    [['src'], ['src/a.ts']],
    [['./src/a.ts'], ['src//A.ts/']],
    [
      ['x', 'src/a.ts'],
      ['y', 'src/a.ts'],
    ],
  ])('%j and %j meet', (one, other) => {
    expect(both(one, other)).toEqual([
      expect.stringMatching(/^a and b both change "[^"]+": let one of them need the other/),
    ]);
    expect(both(one, other, ['a'])).toEqual([]);
  });

  it('are looked up in a plan of the largest size, whatever its answer has', () => {
    const needs = (index: number): string[] => Array.from({ length: index }, (_, before) => `t${before}`);
    const files = (name: string): string[] => Array.from({ length: 400 }, (_, file) => `${name}/${file}/a/b.ts`);
    const all = Array.from({ length: 50 }, (_, index) => task(`t${index}`, { needs: needs(index), files: files('x') }));
    expect(sharedFiles(all)).toEqual([]);
    const apart = all.map((one, index) => ({
      ...one,
      needs: [],
      files: [...files(one.id), ...(index < 2 ? ['X/0'] : [])],
    }));
    expect(sharedFiles(apart)).toEqual([expect.stringMatching(/^t0 and t1 both change "X\/0"/)]);
    const same = all.map((one) => ({ ...one, needs: [] }));
    expect(sharedFiles(same)).toHaveLength(21);
    expect(sharedFiles(same).at(-1)).toMatch(/^and \d+ more problems$/);
  });

  it('do not meet where one task waits for the other, however far', () => {
    const files = ['x.ts'];
    const tasks = [task('a', { files }), task('b', { needs: ['a'] }), task('c', { needs: ['b'], files })];
    expect(sharedFiles(tasks)).toEqual([]);
    expect(both(['src/a.ts'], ['src/ab.ts'])).toEqual([]);
  });
});

describe('a plan without tasks', () => {
  const read = (cannot: unknown, tasks: PlannedTask[] = []) =>
    readPlanAnswer({ summary: 's', tasks, cannot }, ['builder']);

  it.each(['nothing-to-do', 'unclear'])('is one that says why: %s', (why) => {
    expect(read({ why, text: 'It is there.' })).toMatchObject({ ok: true, tasks: [] });
    expect(read({ why, text: ' ' })).toMatchObject({
      ok: false,
      problems: [expect.stringContaining('does not say more')],
    });
    expect(read({ why, text: 'x' }, [task('a')])).toMatchObject({ ok: false });
  });

  it('is refused without a reason', () => {
    expect(read(null)).toMatchObject({ ok: false, problems: [expect.stringContaining('`cannot`')] });
    expect(read({ why: 'lazy', text: 'x' })).toMatchObject({ ok: false });
  });
});

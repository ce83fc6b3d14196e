import { expect, it } from 'vitest';
import { readTasks, repositoryProblem } from '../../../src/playbooks/stages/plan-tasks.ts';

const OTHERS = ['api', 'web'];

it.for<[string, readonly string[], RegExp | undefined]>([
  ['files at the top', ['src/a.ts', 'readme.md'], undefined],
  ['a file of another repository', ['repositories/api/src/a.ts'], undefined],
  ['a whole other repository', ['repositories/web'], undefined],
  ['a name that only looks like it', ['src/repositories/api'], undefined],
  ['nothing', [], /^it names no repository/],
  ['the whole tree', ['.'], /all repositories at once/],
  ['the folder of all others', ['repositories'], /no repository of this run is at "repositories\/\?"/],
  ['one that is not there', ['repositories/site/a.ts'], /at "repositories\/site"/],
  ['another case of the folder', ['Repositories/api/a.ts', 'a.ts'], /several repositories/],
  [
    'two of them',
    ['a.ts', 'repositories/api/a.ts'],
    /it changes repositories\/api and the top folder, which are several/,
  ],
])('holds a planned task to one repository: %s', ([, paths, expected]) => {
  const problem = repositoryProblem(paths, OTHERS);
  if (expected === undefined) expect(problem).toBeUndefined();
  else expect(problem).toMatch(expected);
});

it('gives a plan of a list of stages back with each task that names none of its repositories', () => {
  const task = (id: string, paths: readonly string[]): object => ({
    ...{ id, title: id, brief: id, needs: [], acceptance: ['it is there'] },
    paths,
  });
  const tasks = [task('one', ['repositories/api/a.ts']), task('two', ['repositories/x/a.ts']), task('three', ['a.ts'])];
  expect(readTasks({ tasks }, { stages: [] }, ['api']).problems).toEqual([
    expect.stringMatching(/^task 2 \("two"\): no repository of this run is at "repositories\/x"/),
  ]);
  expect(readTasks({ tasks }, { stages: [] }).problems).toBeUndefined();
});

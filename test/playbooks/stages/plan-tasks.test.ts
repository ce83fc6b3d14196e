import { describe, expect, it } from 'vitest';
import { readTasks } from '../../../src/playbooks/stages/plan-tasks.ts';
import type { Json } from '../../../src/text/json.ts';
import { entry, stage } from './support.ts';

const LIST = { stages: [stage('PLAN'), stage('POST_REVIEW')] };

function problemsOf(...tasks: Json[]): readonly string[] {
  const reading = readTasks({ tasks }, LIST);
  return reading.problems ?? [];
}

describe('tasks that a stage answers', () => {
  it.each<[string, Json[], string | undefined]>([
    ['no task', [], 'there is no task'],
    [
      'too many',
      Array.from({ length: 51 }, (_, index) => entry(`t${index}`)),
      'there are 51 tasks; at most 50 are allowed',
    ],
    ['an unknown need', [entry('a', { needs: ['b'] })], 'task 1 ("a"): it needs "b", which is not among the tasks'],
    ['itself', [entry('a', { needs: ['a'] })], 'task 1 ("a"): it needs itself'],
    [
      'a circle',
      [entry('a', { needs: ['b'] }), entry('b', { needs: ['a'] })],
      'these tasks need each other in a circle: a, b',
    ],
    ['an id twice', [entry('a'), entry('a', { paths: ['b'] })], 'task 2 ("a"): the id is used twice'],
    ['no slug', [entry('A b')], 'task 1 ("A b"): the id must be lower-case letters, digits and dashes, at most 28'],
    ['the id of a stage', [entry('post-review')], 'task 1 ("post-review"): squad uses this id itself'],
    ['the id of a fix', [entry('fix-1')], 'task 1 ("fix-1"): squad uses this id itself'],
    ['no path', [entry('a', { paths: [] })], 'task 1 ("a"): it needs the paths that it changes'],
    ['a blank brief', [entry('a', { brief: ' ' })], 'task 1 ("a"): it needs a title and a brief'],
    [
      'the same path',
      [entry('a'), entry('b', { paths: ['src/a'] })],
      'a and b both change "src/a": let one of them need the other, or divide the paths',
    ],
    [
      'a folder and a file in it',
      [entry('a', { paths: ['src'] }), entry('b')],
      'a and b both change "src": let one of them need the other, or divide the paths',
    ],
    [
      'a folder, spelt otherwise',
      [entry('a', { paths: ['./src//b/'] }), entry('b')],
      'a and b both change "src/b": let one of them need the other, or divide the paths',
    ],
    [
      'everything',
      [entry('a', { paths: ['.'] }), entry('b')],
      'a and b both change ".": let one of them need the other, or divide the paths',
    ],
    [
      'a file in another case',
      [entry('a', { paths: ['src/A.ts'] }), entry('b', { paths: ['SRC/a.ts'] })],
      'a and b both change "src/A.ts": let one of them need the other, or divide the paths',
    ],
    [
      'a name in another Unicode form',
      [entry('a', { paths: ['src/caf\u00E9.ts'] }), entry('b', { paths: ['src/cafe\u0301.ts'] })],
      'a and b both change "src/caf\u00E9.ts": let one of them need the other, or divide the paths',
    ],
    ['a name that only begins alike', [entry('a', { paths: ['src/a'] }), entry('b', { paths: ['src/ab'] })], undefined],
    ['the same path, one after the other', [entry('a'), entry('b', { paths: ['src/a'], needs: ['a'] })], undefined],
    [
      'the same path, through another',
      [entry('a'), entry('b', { needs: ['a'] }), entry('c', { paths: ['src/a'], needs: ['b'] })],
      undefined,
    ],
  ])('%s', (_, tasks, problem) => {
    expect(problemsOf(...tasks)).toEqual(problem === undefined ? [] : [problem]);
  });

  it.each(['../x', 'a/../../b', '/etc', '', 'C:\\x', 'a\\b', '~/x', 'a\nb'])('refuses the path %j', (path) => {
    expect(problemsOf(entry('a', { paths: [path] }))).toEqual([
      expect.stringContaining('is no path within the repository'),
    ]);
  });

  it.each(['.git/config', '.GIT', 'sub/.git', '.squad/runs'])('refuses the path %j of git or squad', (path) => {
    expect(problemsOf(entry('a', { paths: [path] }))).toEqual([`task 1 ("a"): "${path}" belongs to git or to squad`]);
  });

  it.each(['src/**', 'src/*', 'src/a?.ts', 'src/[ab].ts', 'src/{a,b}.ts'])('refuses the pattern %j', (path) => {
    expect(problemsOf(entry('a', { paths: [path] }))).toEqual([
      `task 1 ("a"): "${path}" has a character of a pattern (* ? [ ] { }); name the folder`,
    ]);
  });

  it('says everything at once, and shortens what is hostile', () => {
    const problems = problemsOf(...Array.from({ length: 30 }, () => entry('x'.repeat(500), { needs: ['y'] })));
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toMatch(/^and \d+ more problems$/);
    expect(Math.max(...problems.map(({ length }) => length))).toBeLessThan(200);
  });

  it('sorts the tasks by their needs', () => {
    const reading = readTasks({ tasks: [entry('b', { needs: ['a'] }), entry('a')] }, LIST);
    expect(reading.problems === undefined && reading.entries?.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('names what is no answer of this form', () => {
    expect(readTasks({ tasks: [{ id: 1 }] }, LIST)).toMatchObject({ problems: { length: 6 } });
    expect(readTasks(undefined, LIST)).toMatchObject({
      problems: [expect.stringContaining('the answer is missing; it must be an object with `tasks`')],
    });
  });
});

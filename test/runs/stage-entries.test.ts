// @module-tag all
import { expect, it } from 'vitest';
import { openRunBench, turnsOf } from './run-bench.ts';
import { git } from '../support/git.ts';
import { again, APPROVE_ALL, author, commits, waitFor } from './run-script.ts';

const agent = (name: string, role: string) => ({ name, role, runtime: 'scripted' });
const HOW = {
  type: 'object',
  properties: { how: { type: 'string' } },
  required: ['how'],
  additionalProperties: false,
};
const PLAYBOOK = {
  stages: [
    { id: 'PLAN', by: ['architect'], brief: 'Plan it.', makes: { answer: 'tasks' } },
    { id: 'GUIDE', by: ['architect'], brief: 'Guide {item:id}.', each: { of: 'PLAN' }, makes: { answer: HOW } },
    { id: 'BUILD', by: ['builder'], brief: 'Build {item:id}: {of:GUIDE}', each: { of: 'GUIDE' }, makes: 'code' },
  ],
};
const JUDGED = {
  stages: [
    { id: 'PLAN', by: ['architect'], brief: 'Plan it.', makes: { answer: 'tasks' } },
    { id: 'BUILD', by: ['builder'], brief: 'Build {item:id}.', each: { of: 'PLAN' }, makes: 'code' },
    { id: 'COMMIT', by: ['committer'], brief: 'Commit it.', each: { of: 'BUILD' }, makes: { commit: true } },
    {
      ...{ id: 'TEST', by: ['qa'], brief: 'Test {item:id}.', each: { of: 'COMMIT' }, makes: { answer: 'verdict' } },
      judges: { rounds: 3, else: { redo: 'BUILD' } },
    },
  ],
};
const verdictOf = (approved: boolean) => ({
  ...{ approved, summary: 'seen', criteria: [] },
  findings: approved ? [] : [{ file: null, line: null, problem: 'one.txt is too plain', suggestion: null }],
});
const task = (id: string) => ({
  ...{ id, title: `Make ${id}`, brief: `Write ${id}.`, needs: [] },
  ...{ paths: [`${id}.txt`], acceptance: [`${id} is there`] },
});

it('an entry is built while the stage before is still at work on another one', async (test) => {
  const bench = openRunBench({
    settings: {
      agents: [agent('ada', 'architect'), agent('abe', 'architect'), agent('bob', 'builder')],
      playbook: PLAYBOOK,
    },
    script: [],
  });
  test.onTestFinished(() => bench.end());
  bench.rescript([
    { when: '# Task plan:', steps: [{ answer: 'planned' }], structured: { tasks: [task('one'), task('two')] } },
    { ...author('one', [{ answer: 'x' }]), structured: { how: 'as one' } },
    // The guide of the other entry ends only once this one is built.
    { ...author('two', [waitFor(`${bench.root}/built`), { answer: 'x' }]), structured: { how: 'as two' } },
    author('one-build', [
      ...commits({ 'one.txt': '{prompt}' }).slice(0, -1),
      { run: ['touch', `${bench.root}/built`] },
      { answer: 'done' },
    ]),
    author('two-build', commits({ 'two.txt': '{prompt}' })),
    APPROVE_ALL,
  ]);
  const dry = await bench.run(['run', 'objective.md', '--dry-run', '--yes']);
  expect(dry.stdout.replaceAll(/\s+/g, ' '), dry.stderr).toContain('changes code; once behind each task of GUIDE');
  const ended = await bench.runAll();
  expect(ended.code, ended.stderr + ended.stdout.slice(-3000)).toBe(0);
  expect(turnsOf(ended, 'one-build')).toHaveLength(1);
  expect(bench.fileOnBranch('one.txt')).toContain('Build one:');
  expect(bench.fileOnBranch('one.txt')).toContain('as one');
  expect(bench.fileOnBranch('two.txt')).toContain('as two');
});

it('another agent commits an entry, and a judge sends it back once', async (test) => {
  const bench = openRunBench({
    settings: {
      agents: [
        agent('ada', 'architect'),
        { ...agent('bob', 'builder'), commits: false },
        agent('cam', 'committer'),
        { ...agent('quinn', 'qa'), access: 'read-only' },
      ],
      playbook: JUDGED,
    },
    script: [
      { when: '# Task plan:', steps: [{ answer: 'planned' }], structured: { tasks: [task('one')] } },
      author('one', [{ write: { path: 'one.txt', text: 'plain\n' } }, { answer: 'done' }]),
      again('one', 'playbook', [{ write: { path: 'one.txt', text: '{prompt}' } }, { answer: 'done' }]),
      author('one-commit', commits({}, 'Add one')),
      again('one-commit', 'playbook', commits({}, 'Mend one')),
      { ...author('one-test', [{ answer: 'no' }]), structured: verdictOf(false) },
      { ...again('one-test', 'playbook', [{ answer: 'yes' }]), structured: verdictOf(true) },
      APPROVE_ALL,
    ],
  });
  test.onTestFinished(() => bench.end());
  const dry = (await bench.run(['run', 'objective.md', '--dry-run', '--yes'])).stdout.replaceAll(/\s+/g, ' ');
  expect(dry).toContain('commits what the stage before left, if its author does not; once behind each task of BUILD');
  expect(dry).toContain('once behind each task of COMMIT; a rejection has BUILD done again, at most 3 rounds');
  const ended = await bench.runAll();
  expect(ended.code, ended.stderr + ended.stdout.slice(-3000)).toBe(0);
  expect(bench.fileOnBranch('one.txt')).toContain('one.txt is too plain');
  const log = git(bench.repository, 'log', '--format=%s', 'squad/make-things').split('\n');
  expect(log).toEqual(expect.arrayContaining(['Add one', 'Mend one']));
});

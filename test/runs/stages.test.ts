import { describe, expect, it } from 'vitest';
import { ALL } from '../support/lane.ts';
import { openRunBench } from './run-bench.ts';
import { judge } from './objective-script.ts';
import { APPROVE_ALL, author, commits, objective, type Entry } from './run-script.ts';

const AGENTS = [
  { name: 'lead', role: 'lead', runtime: 'scripted' },
  { name: 'builder-1', role: 'builder', runtime: 'scripted' },
  { name: 'builder-2', role: 'builder', runtime: 'scripted' },
  { name: 'reviewer', role: 'reviewer', runtime: 'scripted', access: 'read-only' },
];

const PLAYBOOK = {
  stages: [
    {
      id: 'PLAN',
      by: ['lead'],
      brief: '{objective}',
      makes: { document: 'plan.md', headings: ['Tasks'], answer: 'tasks' },
    },
    {
      id: 'BUILD',
      by: ['builder'],
      brief: 'Build your part of {of:PLAN}.',
      makes: 'code',
      each: { of: 'PLAN' },
      review: { id: 'BUILD_REVIEW', by: ['reviewer'] },
    },
    { id: 'TEST', by: ['builder'], brief: 'Run the commands.', makes: { checks: 'criteria' } },
    {
      id: 'VERDICT',
      by: ['lead', 'reviewer'],
      brief: 'Judge it.\n\n{criteria}',
      makes: { answer: 'verdict' },
      judges: { rounds: 3, else: { fix: 'BUILD' } },
    },
    { id: 'CLOSE', by: ['lead'], brief: 'Remove the documents.', makes: { removes: 'documents' } },
  ],
};

const task = (id: string, needs: readonly string[] = []) => ({
  ...{ id, title: `Make ${id}`, brief: `Make ${id}.txt.`, needs, paths: [`${id}.txt`] },
  acceptance: [`${id}.txt is there`],
});
const PLANNED = commits({ 'docs/squad/make-things/plan.md': '# Tasks\n\nTwo files.\n' });
const SCRIPT: readonly Entry[] = [
  { ...author('plan', PLANNED), structured: { tasks: [task('left', ['right-hand'])] } },
  {
    ...{ when: 'These tasks cannot be used:' },
    steps: commits({ 'docs/squad/make-things/plan.md': '# Tasks\n\nTwo files, one each.\n' }),
    structured: { tasks: [task('left'), task('right')] },
  },
  author('left', commits({ 'left.txt': 'wrong\n' })),
  author('right', commits({ 'right.txt': 'right\n' })),
  author('fix-1', commits({ 'left.txt': 'left\n' })),
  author('fix-2', commits({ 'left.txt': 'left, with an end\n' })),
  judge('# Task verdict-2', { problem: 'it has no end' }),
  judge('# Task verdict-reviewer-2', {}),
  judge('# Task verdict', {}),
  author('close', [
    { run: ['git', 'rm', '-r', '--quiet', 'docs/squad'] },
    { run: ['git', 'commit', '--quiet', '--message', 'Remove the documents'] },
    { answer: 'done' },
  ]),
  APPROVE_ALL,
];

describe('a list of stages on the real engine', { ...ALL, timeout: 300_000 }, () => {
  it('repairs its plan, its failed checks and what its judges find, and removes its documents', async (test) => {
    const bench = openRunBench({
      settings: { agents: AGENTS, playbook: PLAYBOOK },
      script: SCRIPT,
      objective: objective({ criteria: ['left is right (run: `grep -q left left.txt`)'] }),
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    const status = await bench.status();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    expect(status.tasks.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'plan',
        'left',
        'right',
        'test',
        'fix-1',
        'test-3',
        'verdict-2',
        'fix-2',
        'verdict-3',
        'close',
      ]),
    );
    expect(status.tasks.filter((one) => one.status !== 'done')).toEqual([]);
    expect(ended.lines.at(-1)).toMatchObject({ outcome: 'done', failures: [] });
    expect(bench.fileOnBranch('right.txt')).toBe('right');
    expect(bench.fileOnBranch('left.txt')).toBe('left, with an end');
    expect(bench.fileOnBranch('docs/squad/make-things/plan.md')).toBeUndefined();
    expect(status.stages?.map(({ id, state, round }) => [id, state, round?.taken])).toEqual([
      ['PLAN', 'done', undefined],
      ['BUILD', 'done', undefined],
      ['BUILD_REVIEW', 'done', 1],
      ['TEST', 'done', undefined],
      ['VERDICT', 'done', 3],
      ['CLOSE', 'done', undefined],
    ]);
  });
});

// @module-tag all
import { expect, it } from 'vitest';
import { openRunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, type Step } from './run-script.ts';

const AGENTS = ['builder', 'designer', 'tester'].map((role) => ({ name: role, role, runtime: 'scripted' }));
const SEEN = {
  ...{ type: 'object', properties: { seen: { type: 'string' } }, required: ['seen'], additionalProperties: false },
};
const PLAYBOOK = {
  stages: [
    { id: 'BUILD', by: ['builder'], brief: 'Build it.', makes: 'code', asks: { of: ['designer'], most: 1 } },
    // The list has to use each role.
    { id: 'LOOK', by: ['tester'], brief: 'Look at it.', makes: { answer: SEEN } },
  ],
};
const asks = (to: string): Step => ({
  ...{ mcp: 'squad', tool: 'ask' },
  arguments: { to: [to], question: 'Which colour?', context: 'none', code_path: 'a.txt' },
});

it('a stage asks for advice as often as its list says', async (test) => {
  const bench = openRunBench({
    settings: { agents: AGENTS, playbook: PLAYBOOK },
    script: [
      author('build', [{ write: { path: 'told.txt', text: '{prompt}' } }, asks('designer'), { answer: 'wait' }]),
      {
        when: '# Task answer-',
        steps: [{ answer: 'blue' }],
        structured: { answer: 'blue', doc_updated: false, doc_path: '', reason: 'a matter of taste' },
      },
      { when: 'has had its 1 question', steps: commits({ 'second.txt': '{prompt}' }) },
      {
        when: 'asks only designer',
        steps: [{ write: { path: 'first.txt', text: '{prompt}' } }, asks('designer'), { answer: 'wait' }],
      },
      { when: 'blue', steps: [asks('tester'), { answer: 'wait' }] },
      { when: '# Task look', steps: [{ answer: 'seen' }], structured: { seen: 'all' } },
      APPROVE_ALL,
    ],
  });
  test.onTestFinished(() => bench.end());
  const dry = await bench.run(['run', 'objective.md', '--dry-run', '--yes']);
  expect(dry.stdout.replaceAll(/\s+/g, ' ')).toContain('asks designer for advice, at most 1 question');
  const ended = await bench.runAll();
  expect(ended.code, ended.stderr + ended.stdout.slice(-2000)).toBe(0);
  expect(bench.fileOnBranch('told.txt')).toContain('You may ask designer for advice');
  expect(bench.fileOnBranch('first.txt')).toContain('BUILD asks only designer for advice');
  expect(bench.fileOnBranch('second.txt')).toContain('BUILD has had its 1 question of this run');
});

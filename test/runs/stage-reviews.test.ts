// @module-tag all
import { expect, it } from 'vitest';
import { openRunBench, turnsOf } from './run-bench.ts';
import { again, author, commits, type Entry } from './run-script.ts';
import { ALL_FIXED, finding } from '../support/findings.ts';

const agent = (name: string, role: string, more: object = {}) => ({ name, role, runtime: 'scripted', ...more });
const AGENTS = [
  agent('bob', 'builder'),
  agent('ada', 'architect', { access: 'read-only', model: 'ada' }),
  agent('quinn', 'qa', { access: 'read-only', model: 'quinn' }),
];
const HOW = {
  type: 'object',
  properties: { how: { type: 'string' } },
  required: ['how'],
  additionalProperties: false,
};
const PLAYBOOK = {
  stages: [
    { id: 'GUIDE', by: ['architect'], brief: 'Say how.', makes: { answer: HOW } },
    {
      ...{ id: 'BUILD', by: ['builder'], brief: 'Build it: {of:GUIDE}', makes: 'code' },
      review: [
        { id: 'DESIGN', by: ['architect'], session: { of: 'GUIDE' } },
        { id: 'QA', by: ['qa'], rounds: 2 },
      ],
    },
  ],
};
const says = (model: string, turn: number, wrong?: string, more: object = {}): Entry => ({
  ...{ model, turn, when: 'Review of task build', steps: [{ run: ['git', 'log', '--oneline', '-1'] }] },
  structured: {
    approved: wrong === undefined,
    summary: wrong === undefined ? 'good' : 'not yet',
    findings: wrong === undefined ? [] : [finding(wrong)],
    settled: ALL_FIXED,
    ...more,
  },
});

it('reviews follow each other on one commit, begin again with a new one, and go on in the session of a stage', async (test) => {
  const bench = openRunBench({
    settings: { agents: AGENTS, playbook: PLAYBOOK },
    script: [
      { when: '# Task guide:', steps: [{ answer: 'well' }], structured: { how: 'well' } },
      // The first look of the architect is the second turn of the session of its guide.
      ...[says('ada', 2), says('ada', 3), says('quinn', 1, 'it is plain'), says('quinn', 2)],
      author('build', commits({ 'a.txt': 'plain\n' })),
      again('build', 'review', commits({ 'a.txt': 'better\n' })),
    ],
  });
  test.onTestFinished(() => bench.end());
  const dry = await bench.run(['run', 'objective.md', '--dry-run', '--yes']);
  expect(dry.code, dry.stderr).toBe(0);
  expect(dry.stdout).toMatch(/3 +DESIGN +ada.*BUILD\n.*in the session of GUIDE/);
  expect(dry.stdout).toMatch(/4 +QA +quinn.*DESIGN\n.*at most 2 rounds/);
  const ended = await bench.runAll();
  expect(ended.code, ended.stderr + ended.stdout.slice(-3000)).toBe(0);
  expect(turnsOf(ended, 'build').map(({ agent: who }) => who)).toEqual(['bob', 'ada', 'quinn', 'bob', 'ada', 'quinn']);
  const rounds = ended.lines.filter(({ type }) => type === 'review-round');
  expect(rounds.map(({ review, round, approved }) => [review, round, approved])).toEqual([
    ['DESIGN', 1, true],
    ['QA', 1, false],
    ['DESIGN', 2, true],
    ['QA', 2, true],
  ]);
  const status = await bench.status();
  expect(status.stages).toMatchObject([
    { id: 'GUIDE', state: 'done' },
    { id: 'BUILD', state: 'done', by: ['bob'] },
    { id: 'DESIGN', state: 'done', by: ['ada'], round: { taken: 2 } },
    { id: 'QA', state: 'done', by: ['quinn'], round: { taken: 2, cap: 2 } },
  ]);
  expect(await bench.report()).toContain('| `build` | QA, 1 of 2 |');
});

const REOPENS = { code: 'author', design: { stage: 'GUIDE' }, requirements: 'block' };
const [GUIDE, BUILD] = PLAYBOOK.stages;
const reopening = (more: object = {}) => ({
  stages: [GUIDE, { ...BUILD, review: { id: 'QA', by: ['qa'], reopens: REOPENS }, ...more }],
});
const NOTHING = { required_inputs: [], recommended_next_step: null };

it('a rejection by category has a stage done again, and the work begins anew with what it says now', async (test) => {
  const bench = openRunBench({
    settings: { agents: AGENTS, playbook: reopening() },
    script: [
      { when: '# Task guide:', steps: [{ answer: 'plain' }], structured: { how: 'plain' } },
      { ...again('guide', 'playbook', [{ answer: 'better' }]), structured: { how: 'better' } },
      says('quinn', 1, 'it is plain', { category: 'design', ...NOTHING }),
      says('quinn', 2, undefined, { category: null, ...NOTHING }),
      { ...author('build', commits({ 'a.txt': 'better\n', 'told.txt': '{prompt}' })), when: '"how": "better"' },
      author('build', commits({ 'a.txt': 'plain\n' })),
    ],
  });
  test.onTestFinished(() => bench.end());
  const dry = await bench.run(['run', 'objective.md', '--dry-run', '--yes']);
  expect(dry.stdout.replaceAll(/\s+/g, ' ')).toContain(
    'code goes back to the author; design has GUIDE done again; requirements ends the task',
  );
  const ended = await bench.runAll();
  expect(ended.code, ended.stderr + ended.stdout.slice(-3000)).toBe(0);
  expect([...turnsOf(ended, 'guide'), ...turnsOf(ended, 'build')].map(({ agent: who }) => who)).toEqual([
    ...['ada', 'ada', 'bob', 'quinn', 'bob', 'quinn'],
  ]);
  const told = bench.fileOnBranch('told.txt');
  expect(told).toContain('it is plain');
  expect(told).not.toContain('"how": "plain"');
});

it('a rejection that blocks ends the task with what is missing', async (test) => {
  const missing = { required_inputs: ['the price list'], recommended_next_step: 'ask sales' };
  const bench = openRunBench({
    settings: { agents: AGENTS, playbook: reopening() },
    script: [
      { when: '# Task guide:', steps: [{ answer: 'plain' }], structured: { how: 'plain' } },
      says('quinn', 1, 'no price is known', { category: 'requirements', ...missing }),
      author('build', commits({ 'a.txt': 'plain\n' })),
    ],
  });
  test.onTestFinished(() => bench.end());
  const ended = await bench.runAll();
  expect(ended.code).toBe(1);
  expect(turnsOf(ended, 'build')).toHaveLength(2);
  const [failure] = (ended.lines.at(-1)?.['failures'] ?? []) as { cause: string; why: string }[];
  expect(failure?.cause).toBe('blocked');
  expect(await bench.report()).toMatch(/blocked by its review: requirements[^]*the price list[^]*ask sales/);
});

import { expect, it } from 'vitest';
import { openRunBench, turnsOf } from './run-bench.ts';
import { again, author, commits, type Entry } from './run-script.ts';

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
const says = (model: string, turn: number, finding?: string): Entry => ({
  ...{ model, turn, when: 'Review of task build', steps: [{ run: ['git', 'log', '--oneline', '-1'] }] },
  structured: {
    approved: finding === undefined,
    summary: finding === undefined ? 'good' : 'not yet',
    findings: finding === undefined ? [] : [{ text: finding, criterion: 0, repeated: false }],
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

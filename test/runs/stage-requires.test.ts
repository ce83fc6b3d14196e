// @module-tag all
import { expect, it } from 'vitest';
import { openRunBench, turnsOf } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits } from './run-script.ts';

const AGENTS = [{ name: 'builder-1', role: 'builder', runtime: 'scripted' }];
const BUILD = { id: 'BUILD', by: ['builder'], brief: 'Build it.', makes: 'code' };
const playbookOf = (requires: readonly object[]) => ({
  stages: [
    { ...BUILD, requires },
    { id: 'CHECK', brief: 'Run it.', makes: { checks: ['test -f src/a.txt'] } },
  ],
});

it('what a stage requires is checked at its commit, told to its author, and shown by a dry run', async (test) => {
  const playbook = playbookOf([{ only: ['src', '*.md'] }, { file: 'src/a.txt' }]);
  const bench = openRunBench({
    settings: { agents: AGENTS, playbook },
    script: [
      author('build', commits({ 'other.txt': 'other\n', 'src/b.txt': 'b\n' })),
      again('build', 'evidence', [
        { run: ['git', 'rm', '--quiet', 'other.txt'] },
        ...commits({ 'src/a.txt': '{prompt}', 'notes.md': 'notes\n' }),
      ]),
      APPROVE_ALL,
    ],
  });
  test.onTestFinished(() => bench.end());
  const dry = await bench.run(['run', 'objective.md', '--dry-run', '--yes']);
  expect(dry.code, dry.stderr).toBe(0);
  expect(dry.stdout.replaceAll(/\s+/g, ' ')).toContain('changes only src, *.md; has to leave src/a.txt');
  const ended = await bench.runAll();
  expect(ended.code, ended.stderr + ended.stdout.slice(-2000)).toBe(0);
  expect(turnsOf(ended, 'build')).toHaveLength(2);
  const told = bench.fileOnBranch('src/a.txt');
  expect(told).toMatch(/only .*src.*\*\.md.* may change/);
  expect(told).toContain('other.txt');
  expect(told).toContain('src/a.txt');
});

it('several documents are written in one turn, and none may be missing', async (test) => {
  const folder = 'docs/squad/make-things';
  const playbook = {
    stages: [
      { id: 'SYNC', by: ['builder'], brief: 'Write both.', makes: { documents: ['plan.md', 'parts/spec.md'] } },
      { id: 'BUILD', by: ['builder'], brief: 'Build by {of:SYNC}.', makes: 'code' },
    ],
  };
  const bench = openRunBench({
    settings: { agents: AGENTS, playbook },
    script: [
      author('sync', commits({ [`${folder}/plan.md`]: 'a plan\n' })),
      again('sync', 'evidence', commits({ [`${folder}/parts/spec.md`]: 'a specification\n' })),
      author('build', commits({ 'told.txt': '{prompt}' })),
      APPROVE_ALL,
    ],
  });
  test.onTestFinished(() => bench.end());
  const ended = await bench.runAll();
  expect(ended.code, ended.stderr + ended.stdout.slice(-2000)).toBe(0);
  expect(turnsOf(ended, 'sync')).toHaveLength(2);
  expect(bench.fileOnBranch('told.txt')).toContain(`Build by ${folder}/plan.md, ${folder}/parts/spec.md.`);
  expect((await bench.run(['run', 'objective.md', '--dry-run', '--yes'])).stdout).toContain('writes plan.md,');
});

it('a pull request is required only where squad may open one', async (test) => {
  const bench = openRunBench({
    settings: { agents: AGENTS, playbook: playbookOf([{ pr: true }]) },
    script: [APPROVE_ALL],
  });
  test.onTestFinished(() => bench.end());
  const refused = await bench.run(['run', 'objective.md', '--yes']);
  expect([refused.code, refused.stderr]).toEqual([
    65,
    expect.stringMatching(/squad\.yaml:\d+.*requires\[0\]\.pr.*publish: \{ pr: true \}/s),
  ]);
});

// @module-tag all
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunStatus } from '../../src/view/status.ts';
import type { Finished } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import { ALL } from '../support/lane.ts';
import { again, APPROVE_ALL, author, commits, objective, piece, plan } from './run-script.ts';

const agent = (name: string, role: string, access = 'edit') => ({ name, role, access, runtime: 'scripted' });

/** Nobody who builds in the role of a builder commits: they only edit. */
const AGENTS = [
  agent('planner', 'planner', 'read-only'),
  { ...agent('builder-1', 'builder'), commits: false },
  agent('mason-1', 'mason'),
  agent('reviewer-1', 'reviewer', 'read-only'),
  agent('committer-1', 'committer'),
  agent('tester-1', 'tester', 'read-only'),
];

const writes = (files: Record<string, string>) => [
  ...Object.entries(files).map(([path, text]) => ({ write: { path, text } })),
  { answer: 'written' },
];
const COMMIT = commits({}, 'Add a, because it was asked for');
const AMEND = [
  { run: ['git', 'add', '--all'] },
  { run: ['git', 'commit', '--quiet', '--amend', '--no-edit'] },
  { answer: 'done' },
];
const report = (passed: boolean, failures: string[]) => ({ passed, summary: passed ? 'works' : 'broken', failures });

describe('a hand-off to whoever can commit, and on to a tester', () => {
  let bench: RunBench;
  let ended: Finished;
  let status: RunStatus;
  beforeAll(async () => {
    bench = openRunBench({
      objective: objective({ criteria: ['a is good (run: `grep -q good a.txt`)'] }),
      settings: { agents: AGENTS },
      script: [
        plan([piece('a'), piece('wall', { role: 'mason' })]),
        author('a', writes({ 'a.txt': 'bad\n' })),
        again('a', 'playbook', writes({ 'a.txt': 'good\n', 'told.txt': '{prompt}' }), 2),
        // The branch moves on while `a` is handed over.
        author('wall', [{ run: ['sleep', '0.5'] }, ...commits({ 'wall.txt': 'wall\n' })]),
        author('a-commit', [
          { run: ['git', 'status', '--short'] },
          { run: ['sleep', '2.5'] },
          // Nobody reviewed this.
          { write: { path: 'a.txt', text: 'smuggled\n' } },
          ...COMMIT,
        ]),
        again('a-commit', 'evidence', [{ write: { path: 'a.txt', text: 'bad\n' } }, ...AMEND], 2),
        again('a-commit', 'playbook', COMMIT, 3),
        {
          ...author('a-test', [{ run: ['grep', '-q', 'good', 'a.txt'] }]),
          structured: report(false, ['a.txt says bad: it should say good']),
        },
        { ...again('a-test', 'playbook', [{ run: ['grep', '-q', 'good', 'a.txt'] }]), structured: report(true, []) },
        { ...author('wall-test', [{ run: ['test', '-f', 'wall.txt'] }]), structured: report(true, []) },
        APPROVE_ALL,
      ],
    });
    ended = await bench.runAll();
    status = await bench.status();
  }, 120_000);
  afterAll(() => bench.end());

  it('delivers in the second round what the tester sent back', () => {
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.slice(-3))}`).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('good');
    expect(bench.fileOnBranch('told.txt')).toContain('it should say good');
    const rounds = status.tasks.map(({ id, status: state, round }) => `${id} ${state} ${round}`);
    expect(rounds).toEqual(
      expect.arrayContaining(['a done 2', 'a-commit done 2', 'a-test done 2', 'wall done 1', 'wall-test done 1']),
    );
  });

  it('delivers the committer’s commits, not the builder’s tree', () => {
    const log = git(bench.repository, 'log', '--format=%s', 'squad/make-things');
    expect(log.split('\n').filter((line) => line === 'Add a, because it was asked for')).toHaveLength(2);
    expect(log).not.toMatch(/squad: |rescue/i);
  });

  it('takes no change that nobody reviewed', async () => {
    expect(await bench.report()).toContain('these files differ from the work that was handed over: a.txt');
    expect(git(bench.repository, 'log', '-p', '--format=', 'squad/make-things')).not.toContain('smuggled');
  });

  it('sees no conflict of the work with its own first round', () => {
    expect(turnsOf(ended, 'a-commit')).toHaveLength(3);
    expect(turnsOf(ended, 'a')).toHaveLength(4);
  });
});

it('a committer that takes all of the work back is told so', { timeout: 60_000 }, async (test) => {
  const bench = openRunBench({
    settings: { agents: AGENTS.filter(({ role }) => ['planner', 'builder', 'committer'].includes(role)) },
    script: [
      plan([piece('a')]),
      author('a', writes({ 'a.txt': 'good\n' })),
      { when: 'a-commit', steps: [...COMMIT, { run: ['git', 'rm', '--quiet', 'a.txt'] }, ...COMMIT] },
    ],
  });
  test.onTestFinished(() => bench.end());
  expect((await bench.runAll()).code).toBe(1);
  const { headline } = await bench.status();
  expect(headline).toContain('a-commit: these files differ from the work that was handed over: a.txt');
});

describe('a tester that is never content', () => {
  it(
    'ends the piece after its rounds, and the run says what was wrong to the last',
    { ...ALL, timeout: 300_000 },
    async (test) => {
      const bench = openRunBench({
        settings: { agents: [agent('builder-1', 'builder'), agent('tester-1', 'tester', 'read-only')] },
        script: [
          plan([piece('a'), piece('b', { needs: ['a'] })]),
          author('a', commits({ 'a.txt': '{turn}' })),
          again('a', 'playbook', commits({ 'a.txt': '{turn}' })),
          { when: 'a-test', steps: [{ run: ['true'] }], structured: report(false, ['it does not fly']) },
        ],
      });
      test.onTestFinished(() => bench.end());
      const ended = await bench.runAll();
      expect(ended.code, ended.stderr).toBe(1);
      expect(ended.lines.at(-1)?.['why']).toMatch(/a has used its 4 rounds.*it does not fly/s);
      expect([turnsOf(ended, 'a'), turnsOf(ended, 'a-test'), turnsOf(ended, 'b')].map(({ length }) => length)).toEqual([
        4, 4, 0,
      ]);
      expect(await bench.report()).toContain('it does not fly');
    },
  );
});

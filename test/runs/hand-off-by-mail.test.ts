// @module-tag all
import { describe, expect, it, type TestContext } from 'vitest';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import {
  again,
  APPROVE_ALL,
  author,
  commits,
  objective,
  piece,
  plan,
  verdict,
  type Entry,
  type Step,
} from './run-script.ts';
import { ALL } from '../support/lane.ts';

// A tester hands work on by mail, and whoever gets it deletes what was delivered and tested.

const agent = (name: string, role: string, access = 'edit') => ({ name, role, access, runtime: 'scripted' });
const AGENTS = [
  agent('planner', 'planner', 'read-only'),
  agent('builder-1', 'builder'),
  agent('scribe-1', 'scribe'),
  agent('reviewer-1', 'reviewer', 'read-only'),
  agent('tester-1', 'tester', 'read-only'),
];

function open(
  test: TestContext,
  script: readonly Entry[],
  agents: readonly object[] = AGENTS,
  first: readonly Step[] = [],
): RunBench {
  const bench = openRunBench({
    objective: objective({ criteria: ['a is there (run: `test -f a.txt`)'] }),
    settings: { agents },
    script: [plan([piece('a')]), author('a', [...first, ...commits({ 'a.txt': 'a\n' })]), ...script],
  });
  test.onTestFinished(() => bench.end());
  return bench;
}

const HAND_OFF = {
  mcp: 'squad',
  tool: 'handoff',
  arguments: { to: ['scribe'], task_id: 'TIDY', summary: 'Tidy up after a.', files: ['a.txt'] },
};
const DELETES = [
  { run: ['git', 'rm', '--quiet', 'a.txt'] },
  { write: { path: 'notes.txt', text: 'tidy\n' } },
  ...commits({}),
];
const RESTORES = commits({ 'a.txt': 'a\n' });
const tests = (passed: boolean) => ({ passed, summary: passed ? 'works' : 'a.txt is gone', failures: [] });
const A_TEST: Entry = {
  ...author('a-test', [HAND_OFF, { run: ['test', '-f', 'a.txt'] }]),
  structured: tests(true),
};
const LOOK = [{ run: ['test', '-f', 'a.txt'] }];

/** Ids follow from the message: the first of the run. */
const HANDED = 'mail-1-scribe';

describe.concurrent('work that a tester hands on by mail', { timeout: 300_000 }, () => {
  it('is tested again with what it came after, and verified last: what it deleted comes back', async (test) => {
    const bench = open(test, [
      A_TEST,
      { ...author(`${HANDED}-test`, LOOK), structured: tests(false) },
      { ...again(`${HANDED}-test`, 'playbook', LOOK), structured: tests(true) },
      again(HANDED, 'playbook', RESTORES),
      author(HANDED, DELETES),
      APPROVE_ALL,
    ]);
    const ended = await bench.runAll();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.slice(-3))}`).toBe(0);
    const { tasks } = await bench.status();
    expect(tasks.map(({ id, status, round }) => `${id} ${status} ${round}`)).toEqual(
      expect.arrayContaining([`${HANDED} done 2`, `${HANDED}-test done 2`]),
    );
    const reviews = turnsOf(ended, HANDED).filter((turn) => turn['agent'] === 'reviewer-1');
    expect(reviews.length).toBeGreaterThan(0);
    const ends = ended.lines.filter((line) => line['type'] === 'attempt-ended');
    const lastTurn = ends.findLastIndex((line) => line['kind'] === 'turn');
    expect(ends.findLastIndex((line) => line['task'] === 'check:gate')).toBeGreaterThan(lastTurn);
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('notes.txt')]).toEqual(['a', 'tidy']);
  });

  it('reaches no run branch without its review, which has the message before it', ALL, async (test) => {
    const bench = open(test, [
      A_TEST,
      { ...author(`${HANDED}-test`, LOOK), structured: tests(true) },
      again(HANDED, 'review', RESTORES),
      author(HANDED, DELETES),
      { ...verdict(HANDED, ['a.txt is gone'], 1), when: '"summary":"Tidy up after a."' },
      APPROVE_ALL,
    ]);
    const ended = await bench.runAll();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.slice(-3))}`).toBe(0);
    expect((await bench.status()).tasks).toContainEqual(expect.objectContaining({ id: HANDED, round: 2 }));
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('notes.txt')]).toEqual(['a', 'tidy']);
  });

  it('is verified where nobody reviews or tests: the run is not done while the file is gone', ALL, async (test) => {
    const alone = AGENTS.filter(({ role }) => role === 'builder' || role === 'scribe');
    const bench = open(test, [author(HANDED, DELETES), author('fix-1', RESTORES)], alone, [HAND_OFF]);
    const ended = await bench.runAll();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.slice(-3))}`).toBe(0);
    expect((await bench.status()).tasks).toContainEqual(expect.objectContaining({ id: 'fix-1', status: 'done' }));
    expect(bench.fileOnBranch('a.txt')).toBe('a');
  });
});

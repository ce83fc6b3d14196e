import { describe, expect, it } from 'vitest';
import { LATE_FINDINGS, type Finding } from '../../src/model/plan/review.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, again, commits, objective, piece, plan, verdict, type Entry } from './run-script.ts';
import { git } from '../support/git.ts';
import { ALL_FIXED, finding } from '../support/findings.ts';
import { ALL } from '../support/lane.ts';

const SUMMARY = 'The fix deletes the login check: this must not go out.';
const FOUND = 'login.js:3: the check of the password is gone. Proof: tried';

/** The reviewer rejects the fix for what no criterion names. */
const veto = (more: Partial<Finding>): Entry => ({
  when: '# Review of task one:',
  turn: 2,
  steps: [{ run: ['git', 'log', '--oneline', '-1'] }],
  structured: {
    approved: false,
    summary: SUMMARY,
    findings: [finding('the check of the password is gone', { file: 'login.js', line: 3, criterion: null, ...more })],
    settled: ALL_FIXED,
  },
});

const fix = [{ run: ['git', 'rm', '-q', 'login.js'] }, ...commits({ 'one.txt': 'one, corrected\n' })];

function benchOf({ onTestFinished }: { onTestFinished: (end: () => void) => void }, later: readonly Entry[]): RunBench {
  const bench = openRunBench({
    objective: objective(),
    script: [
      plan([piece('one')]),
      author('one', commits({ 'one.txt': 'one\n', 'login.js': 'check the password\n' })),
      verdict('one', ['one.txt is not right'], 1),
      again('one', 'review', fix, 2),
      ...later,
      APPROVE_ALL,
    ],
  });
  onTestFinished(() => bench.end());
  return bench;
}

describe.concurrent('a reviewer rejects what a fix did', { timeout: 300_000 }, () => {
  it('and a rejection that is overruled is a rejection on every surface, and open', ALL, async (test) => {
    const bench = benchOf(test, [
      veto({ blocks: null }),
      { ...veto({ blocks: null }), when: 'Your verdict cannot be used', turn: 3 },
    ]);
    const ended = await bench.runAll();
    const headline = 'DONE, the last rejection of one was overruled';
    expect([ended.code, ended.lines.at(-1)?.['headline']], ended.stderr).toEqual([0, headline]);
    const round = ended.lines.findLast(({ type }) => type === 'review-round');
    expect(round).toMatchObject({ round: 2, approved: false, overruled: true });
    expect(round?.['feedback']).toBe(
      `reviewer (reviewer-1): rejected, overruled: ${LATE_FINDINGS}. ${SUMMARY}\n- ${FOUND}`,
    );
    const [report, show, log] = await Promise.all([bench.report(), bench.run(['show', 'one']), bench.run(['log'])]);
    expect(report).toContain(`**rejected**, overruled: ${LATE_FINDINGS}`);
    expect(report).toContain(headline);
    expect(show.stdout).toContain('rejected, overruled');
    expect(log.stdout).toContain('review    one round 2: rejected, overruled');
    expect((await bench.runAll(['--strict', '--name', 'strict'])).code).toBe(1);
  });

  it('and new harm goes back to the author', ALL, async (test) => {
    const restore = again('one', 'review', commits({ 'login.js': 'check the password\n' }), 3);
    const bench = benchOf(test, [veto({ blocks: 'new-harm' }), restore]);
    const ended = await bench.runAll();
    const headline = 'DONE, all work is delivered and verified';
    expect([ended.code, ended.lines.at(-1)?.['headline']], ended.stderr).toEqual([0, headline]);
    expect(git(bench.repository, 'show', 'squad/make-things:login.js')).toContain('check the password');
  });
});

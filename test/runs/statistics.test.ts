import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statisticsSchema, type Statistics } from '../../src/view/report/statistics.ts';
import { ALL } from '../support/lane.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';
import { finding } from '../support/findings.ts';

const REJECT = {
  when: 'Review the work of task',
  steps: [{ answer: 'no' }],
  structured: {
    approved: false,
    summary: 'Not yet.',
    findings: [finding('there is no test')],
  },
};

/** One workspace with a run of each ending: done, rejected to the end, killed and resumed, killed and left. */
describe('statistics over runs with different endings', { timeout: 300_000, ...ALL }, () => {
  let bench: RunBench;
  let found: Statistics;
  beforeAll(async () => {
    const works = [plan([piece('a')]), author('a', commits({ 'a.txt': 'a' }))];
    bench = openRunBench({ script: [...works, APPROVE_ALL] });
    const done = await bench.runAll(['--name', 'good']);
    expect(done.code, done.stderr).toBe(0);
    bench.settings({ limits: { reviewRounds: 1 } });
    bench.rescript([...works, REJECT]);
    const failed = await bench.runAll(['--name', 'bad']);
    expect(failed.code, failed.stderr).toBe(1);
    for (const name of ['again', 'gone']) {
      bench.rescript([plan([piece('a')]), author('a', [{ run: ['true'] }, { hang: true }]), APPROVE_ALL]);
      const engine = bench.startRun(['--name', name]);
      await engine.line(({ type, task }) => type === 'tool-ended' && task === 'a');
      engine.child.kill('SIGKILL');
      await engine.finished;
      if (name === 'gone') continue;
      bench.rescript([{ when: 'was cut short', steps: commits({ 'b.txt': 'b' }) }, ...works, APPROVE_ALL]);
      await bench.run(['stop', '--json']);
      const resumed = await bench.run(['resume', name, '--json']);
      expect(resumed.code, resumed.stderr).toBe(0);
    }
    await bench.run(['stop', '--json']);
    const all = await bench.run(['report', '--all', '--json']);
    expect(all.code, all.stderr).toBe(0);
    found = statisticsSchema.parse(all.lines[0]);
  }, 300_000);
  afterAll(() => bench.end());

  it('count how they ended, and what was resumed', () => {
    expect(found).toMatchObject({
      runs: { all: 4, done: 2, failed: 1, open: 1 },
      completion: { done: 2, ended: 3, byPlaybook: [{ playbook: 'delivery' }] },
      time: { runs: 2, met: true },
      recovery: { interrupted: 2, recovered: 1, rate: 0.5, met: false },
    });
  });

  it('count the rounds of their reviews, and the turns', () => {
    expect(found.reviews).toMatchObject({ average: 1, byStage: [{ playbook: 'delivery', stage: null }] });
    expect(found.use.turns).toBeGreaterThanOrEqual(9);
  });

  it('are a table for people, and refuse a run or a page', async () => {
    const { stdout } = await bench.run(['report', '--all']);
    expect(stdout).toContain('4 runs: 2 done, 1 failed, 1 not over');
    expect(stdout).toMatch(/^completed +66\.6 % +≥ 70 % +2 done of 3 that ended$/m);
    for (const more of ['good', '--html']) {
      const refused = await bench.run(['report', '--all', more]);
      expect([refused.code, refused.stderr.includes('squad report --all')]).toEqual([2, true]);
    }
  });
});

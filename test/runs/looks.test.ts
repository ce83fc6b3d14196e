// @module-tag all
import { describe, expect, it } from 'vitest';
import { openRunBench } from './run-bench.ts';
import { author, commits, objective, piece, plan, type Entry } from './run-script.ts';
import { ALL } from '../support/lane.ts';

const DONE = 'DONE, all work is delivered and verified';
const approval = { approved: true, summary: 'good', findings: [] };
const look = [{ run: ['git', 'log', '--oneline', '-1'] }];

function bench(
  { onTestFinished }: { onTestFinished: (end: () => void) => void },
  reviews: readonly Entry[],
  settings: object = {},
) {
  const room = openRunBench({
    objective: objective({ criteria: ['it is there (run: `test -f one.txt`)'] }),
    settings: { ...settings },
    script: [plan([piece('one')]), author('one', commits({ 'one.txt': 'one\n' })), ...reviews],
  });
  onTestFinished(() => room.end());
  return room;
}

describe.concurrent('an approval without a look', { timeout: 300_000 }, () => {
  const blind: Entry = { when: '# Review of task', steps: [{ answer: 'fine' }], structured: approval };

  it('is in headline, log, record and report', async (test) => {
    const room = bench(test, [blind]);
    const ended = await room.runAll();
    const headline = `${DONE}; approved without looking: one by reviewer-1`;
    expect([ended.code, ended.lines.at(-1)?.['headline']], ended.stderr).toEqual([0, headline]);
    const [report, show, log] = await Promise.all([room.report(), room.run(['show', 'one']), room.run(['log'])]);
    expect(report).toContain('was approved by reviewer-1, who used no tool: without looking');
    expect(show.stdout).toContain('approved without looking. good');
    expect(log.stdout).toContain('approved without looking. good');
  });

  it('goes back once where a look is required', ALL, async (test) => {
    const again = (steps: Entry['steps']): Entry => {
      return { when: 'you approve, and used no tool', steps, structured: approval };
    };
    const settings = { review: { looks: 'required' } };
    const looks = bench(test, [blind, again(look)], settings);
    const ended = await looks.runAll();
    expect([ended.code, ended.lines.at(-1)?.['headline']], ended.stderr).toEqual([0, DONE]);
    const never = bench(test, [blind, again([])], settings);
    const failed = await never.runAll();
    expect([failed.code, failed.lines.at(-1)?.['headline']]).toEqual([1, expect.stringContaining('no verdict')]);
  });
});

// @module-tag all
import { expect, it } from 'vitest';
import { HOSTILE_MAIL } from '../fixtures/hostile-mail.ts';
import { openRunBench } from './run-bench.ts';
import { again, author, commits, objective, piece, plan, type Entry } from './run-script.ts';

const REPORT = {
  ...{ done: 'one.txt is made', checked: [{ command: 'test -f one.txt', exitCode: 0 }] },
  ...{ assumed: ['UTF-8', 'one line'], notDone: ['the manual', 'none'], replies: [] as object[] },
};
const finding = {
  ...{ file: 'one.txt', line: 1, wrong: 'it has a wrong name', right: 'two.txt', proof: '`ls`' },
  ...{ blocks: 'defect', criterion: null },
};
const look = [{ run: ['git', 'log', '--oneline', '-1'] }];
const judged = (when: string, approved: boolean): Entry => ({
  ...{ when, steps: look },
  structured: {
    ...{ approved, summary: approved ? 'convinced' : 'no', findings: approved ? [] : [finding], checks: [] },
    settled: when.includes('F1') ? [{ finding: 'F1', as: 'withdrawn', why: 'the objective says so' }] : [],
  },
});

function benchOf(script: readonly Entry[], { onTestFinished }: { onTestFinished: (end: () => void) => void }) {
  const room = openRunBench({
    objective: objective({ criteria: ['it is there (run: `test -f one.txt`)'] }),
    script: [plan([piece('one')]), author('one', commits({ 'one.txt': 'one\n' }), { structured: REPORT }), ...script],
  });
  onTestFinished(() => room.end());
  return room;
}

it(
  'lets a commit be judged once more, if its author disagrees with each finding',
  { timeout: 300_000 },
  async (test) => {
    const replies = [{ finding: 'F1', as: 'disagree', why: 'the objective names it so' }];
    const room = benchOf(
      [
        { ...again('one', 'review', [{ answer: 'it is right' }]), structured: { ...REPORT, replies } },
        judged('To F1: disagrees. the objective names it so', true),
        judged('# Review of task', false),
      ],
      test,
    );
    const ended = await room.runAll();
    const closing = 'DONE, all work is delivered and verified; 2 assumptions, 1 thing not done: `squad report`';
    expect([ended.code, ended.lines.at(-1)?.['headline']], ended.stderr).toEqual([0, closing]);
    const [report, show, status] = await Promise.all([
      room.report(),
      room.run(['show', 'one']),
      room.run(['status', '--json']),
    ]);
    expect(report).toContain('## Assumed, and not done');
    expect(report).toContain('the manual');
    expect(report).toContain('F1: its author disagrees: the objective names it so. F1 withdrawn.');
    expect(show.stdout).toContain('its author says: Assumed: UTF-8');
    expect(JSON.parse(status.stdout)).toMatchObject({
      reported: [{ task: 'one', assumed: ['UTF-8', 'one line'], notDone: ['the manual'] }],
      reviewRounds: { one: 2 },
    });
  },
);

it('keeps hostile words of an author fenced, and in their lines', { timeout: 300_000 }, async (test) => {
  const said = HOSTILE_MAIL.slice(0, 60);
  const hostile = { ...REPORT, done: said[0] ?? '', assumed: said.slice(0, 20), notDone: said.slice(20, 40) };
  const room = openRunBench({
    objective: objective(),
    script: [
      plan([piece('one')]),
      author('one', commits({ 'one.txt': 'one\n' }), { structured: hostile }),
      judged('# Review of task', true),
    ],
  });
  test.onTestFinished(() => room.end());
  const ended = await room.runAll();
  expect(ended.code, ended.stderr).toBe(0);
  const show = await room.run(['show', 'one']);
  for (const line of show.stdout.split('\n')) expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
});

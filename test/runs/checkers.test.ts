// @module-tag all
import { describe, expect, it } from 'vitest';
import { openRunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan, type Entry, type Step } from './run-script.ts';
import { ALL } from '../support/lane.ts';

const FILES = {
  'test.sh': 'set -e\ntest -f one.txt\ngrep -q one one.txt\n',
  'package.json': '{"scripts":{"check":"sh test.sh","other":"true"}}\n',
  'tests/a.txt': 'a\n',
};
const DONE = 'DONE, all work is delivered and verified';
const ONE: Step[] = commits({ 'one.txt': 'one\n', 'test.sh': 'true\n' });

function bench(
  { onTestFinished }: { onTestFinished: (end: () => void) => void },
  about: { steps: readonly Step[]; front?: string; settings?: object; later?: readonly Entry[]; run?: string },
) {
  const { steps, front, settings = {}, later = [], run = 'sh test.sh' } = about;
  const opened = openRunBench({
    files: FILES,
    objective: objective({
      criteria: [`the checks pass (run: \`${run}\`)`],
      ...(front === undefined ? {} : { front }),
    }),
    settings: { ...settings },
    script: [plan([piece('one')]), author('one', steps), ...later, APPROVE_ALL],
  });
  onTestFinished(() => opened.end());
  return opened;
}

/** The judge of the run's end, about the criterion with this number. */
function judge(criterion: number, met: boolean): Entry {
  const verdicts = [
    { criterion: `C${criterion + 1}`, met, evidence: null, why: met ? 'it checks the same' : 'it checks less' },
  ];
  return { when: '# Task judge', steps: [{ run: ['git', 'log', '--oneline', '-1'] }], structured: { verdicts } };
}

describe.concurrent('a run that changes what checks it', { timeout: 300_000 }, () => {
  it('says so in its headline, report and status, and fails with --strict', async (test) => {
    const room = bench(test, { steps: ONE });
    const ended = await room.runAll();
    const text = 'the work changed what checks it: test.sh (−3 +1)';
    expect([ended.code, ended.lines.at(-1)?.['headline']], ended.stderr).toEqual([0, `${DONE}; ${text}`]);
    expect(await room.report()).toContain('The work changed what checks it: test.sh (−3 +1)');
    const status = await room.status();
    expect(status.checkers).toEqual([{ path: 'test.sh', status: 'modified', removed: 3, added: 1 }]);
    expect((await room.runAll(['--strict', '--name', 'strict'])).code).toBe(1);
  });

  it('by a script of package.json, and not by another one', ALL, async (test) => {
    const change = (text: string): Step[] => commits({ 'one.txt': 'one\n', 'package.json': text });
    const run = 'npm run --silent check';
    const other = bench(test, { run, steps: change('{"scripts":{"check":"sh test.sh","other":"false"}}\n') });
    expect((await other.runAll()).lines.at(-1)?.['headline']).toBe(DONE);
    const own = bench(test, { run, steps: change('{"scripts":{"check":"true","other":"true"}}\n') });
    const said = 'the work changed what checks it: package.json (script check, −1 +1)';
    expect((await own.runAll()).lines.at(-1)?.['headline']).toBe(`${DONE}; ${said}`);
  });

  it('with a word of its reviewer, which an approval of a protected path needs', async (test) => {
    const review = (checks: object[], more: Partial<Entry> = {}): Entry => ({
      when: '# Review of task one:',
      steps: [{ run: ['git', 'log', '--oneline', '-1'] }],
      structured: { approved: true, summary: 'good', findings: [], checks },
      ...more,
    });
    const word = { path: 'test.sh', accepted: true, why: 'it checks the same' };
    const again = review([word], { when: 'Your verdict cannot be used', steps: [] });
    const room = bench(test, { steps: ONE, front: 'protect: [test.sh]', later: [review([]), again] });
    const ended = await room.runAll(['--strict']);
    const said = 'the work changed what checks it: test.sh (−3 +1, accepted by reviewer-1)';
    const headline = `DONE, 1 of 2 criteria judged by reviewer-1, not run; ${said}`;
    expect([ended.code, ended.lines.at(-1)?.['headline']], ended.stderr).toEqual([0, headline]);
    const { criteria } = await room.status();
    expect(criteria[1]).toMatchObject({ state: 'judged', by: 'reviewer-1', evidence: 'accepted in review' });
  });

  it('is checked as before, too, where the settings say so', async (test) => {
    const wrong = commits({ 'one.txt': 'wrong\n', 'test.sh': 'true\n' });
    const room = bench(test, { steps: wrong, settings: { checks: 'base' } });
    const ended = await room.runAll();
    const text = 'the work changed what checks it: test.sh (−3 +1)';
    const headline = `${DONE}; ${text}; with the checks as they were at the base, \`sh test.sh\` fails`;
    expect([ended.code, ended.lines.at(-1)?.['headline']], ended.stderr).toEqual([0, headline]);
    expect(await room.report()).toContain('With the checks as they were at the base, “sh test.sh” fails');
    expect((await room.status()).checksAtBase).toEqual([{ run: 'sh test.sh', passed: false }]);
    expect(room.fileOnBranch('test.sh')).toContain('true');
  });

  it('is checked by the scripts that were there, with what the work depends on', ALL, async (test) => {
    const now = '{"scripts":{"check":"true"},"dependencies":{"x":"1"}}\n';
    const steps = commits({ 'one.txt': 'one\n', 'package.json': now });
    const run = 'npm run --silent check && grep -q dependencies package.json';
    const ended = await bench(test, { steps, run, front: 'checks: base' }).runAll();
    const text = 'the work changed what checks it: package.json (script check, −1 +1)';
    const headline = `${DONE}; ${text}; with the checks as they were at the base, all pass`;
    expect([ended.code, ended.lines.at(-1)?.['headline']], ended.stderr).toEqual([0, headline]);
  });

  it('at a protected path is no approval without a word', ALL, async (test) => {
    const silent = bench(test, { steps: ONE, front: 'protect: [test.sh]' });
    const ended = await silent.runAll();
    const headline = expect.stringContaining('no verdict from reviewer');
    expect([ended.code, ended.lines.at(-1)?.['headline']]).toEqual([1, headline]);
  });

  it('at a protected path, where no task has a review, asks the judge of its end', ALL, async (test) => {
    const steps = [{ run: ['git', 'rm', '-q', 'tests/a.txt'] }, ...commits({ 'one.txt': 'one\n' })];
    const made = (more: object) => {
      const room = bench(test, { steps, front: 'protect: [tests/**]', ...more });
      room.settings({
        agents: [
          { name: 'builder-1', role: 'builder', runtime: 'scripted' },
          { name: 'reviewer-1', role: 'reviewer', runtime: 'scripted', access: 'read-only' },
        ],
        playbook: { stages: [{ id: 'ONE', by: ['builder'], brief: '{objective}', makes: 'code' }] },
      });
      return room;
    };
    const accepted = await made({ later: [judge(1, true)] }).runAll(['--strict']);
    const said = 'the work changed what checks it: tests/a.txt (deleted, accepted by reviewer-1)';
    const headline = `DONE, 1 of 2 criteria judged by reviewer-1, not run; ${said}`;
    expect([accepted.code, accepted.lines.at(-1)?.['headline']], accepted.stderr).toEqual([0, headline]);
    const open = await made({ later: [judge(7, true)] }).runAll();
    expect([open.code, open.lines.at(-1)?.['headline']]).toEqual([
      0,
      'DONE, 1 of 2 criteria not checked; the work changed what checks it: tests/a.txt (deleted)',
    ]);
  });
});

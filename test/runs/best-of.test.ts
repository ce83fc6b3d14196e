import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { ALL, SPREAD } from '../support/lane.ts';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import { again, author, commits, type Entry } from './run-script.ts';

const onScripted = (name: string, role: string, access = 'edit') => ({ name, role, access, runtime: 'scripted' });
const TEAM = [
  onScripted('builder-1', 'builder'),
  onScripted('builder-2', 'builder'),
  onScripted('reviewer', 'reviewer', 'read-only'),
];
const VERIFY = "grep -qx hello greeting.txt || { echo 'it does not greet'; false; }";

/** A try whose author, after a failed check, writes the next of the texts. */
function writes(task: string, first: string, second = `${first}, still`): Entry[] {
  return [
    author(task, commits({ 'greeting.txt': `${first}\n` })),
    again(task, 'evidence', commits({ 'greeting.txt': `${second}\n` })),
  ];
}

/** The judge sees the commits of all tries in its folder: with that of the run's start there are more than two. */
function judge(choice: string): Entry {
  const seen = "git cat-file --batch-all-objects --batch-check='%(objecttype)' | grep -c '^commit$'";
  return {
    when: 'Choose the work that is delivered',
    steps: [{ run: ['sh', '-c', `test "$(${seen})" -gt 2`] }],
    structured: { choice, why: 'it has a test' },
  };
}

function benchFor({ onTestFinished }: { onTestFinished(end: () => void): void }, script: readonly Entry[]): RunBench {
  const bench = openRunBench({ script, settings: { agents: TEAM, verify: [{ run: VERIFY }] } });
  onTestFinished(() => bench.end());
  return bench;
}

const bestOf = (...more: readonly string[]): string[] => [
  ...['best-of', '3', 'objective.md', '--yes', '--json'],
  ...more,
];

describe.concurrent('squad best-of', { timeout: 120_000 }, () => {
  it('delivers the one of three that passes, and keeps the others', ALL, async (test) => {
    const script = [...writes('try-1', 'bye'), ...writes('try-2', 'hello'), ...writes('try-3', 'servus')];
    const bench = benchFor(test, script);
    const finished = await bench.run(bestOf());
    expect(finished.code, finished.stderr).toBe(0);
    expect(bench.fileOnBranch('greeting.txt')).toBe('hello');
    expect(['try-1', 'try-2', 'try-3', 'choose'].map((task) => turnsOf(finished, task).length)).toEqual([2, 1, 2, 0]);
    const end = finished.lines.at(-1) ?? {};
    const said = 'try-2 of 3 was delivered: try-1 failed; try-3 failed; no other try could be delivered';
    expect(end).toMatchObject({
      headline: `DONE, all work is delivered and verified; ${said}`,
      next: ['squad diff make-things', 'squad merge make-things'],
    });
    expect(await bench.status()).toMatchObject({ playbook: 'best-of', outcome: 'done', headline: end['headline'] });
    const report = await bench.report();
    expect(report).toMatch(/## Tries\n[^]*\| `try-1` +\| builder-1 +\| failed +\| [^\n]*it does not greet/);
    expect(report).toContain('`squad diff make-things try-3`');
    expect(report).not.toContain('This is not all of the work');
    expect((await bench.run(['diff', 'make-things', 'try-3'])).stdout).toContain('+servus, still');
    expect(git(bench.repository, 'log', '--format=%s', '--all', '--', 'greeting.txt').split('\n')).toHaveLength(5);
    expect((await bench.run(['merge'])).code).toBe(0);
  });

  it('delivers what the judge chooses of two that pass', ALL, async (test) => {
    const script = [
      ...writes('try-1', 'hello'),
      ...writes('try-2', 'bye'),
      ...writes('try-3', 'so\nhello'),
      judge('try-3'),
    ];
    const bench = benchFor(test, script);
    const finished = await bench.run(bestOf('--strict'));
    expect(finished.code, finished.stderr).toBe(0);
    expect(bench.fileOnBranch('greeting.txt')).toBe('so\nhello');
    const said = 'try-3 of 3 was delivered: try-1 was not chosen; try-2 failed; reviewer chose it: it has a test';
    expect(finished.lines.at(-1)).toMatchObject({
      headline: expect.stringContaining(said),
      next: ['squad diff make-things', 'squad merge make-things', 'squad diff make-things try-1'],
    });
    expect((await bench.run(['diff', 'try-1'])).stdout).toContain('+hello');
    const report = await bench.report();
    expect(report).toMatch(/\| `try-1` +\| builder-1 +\| not chosen +\|/);
    expect(report).toMatch(/\| `try-3` +\| builder-1 +\| delivered +\| reviewer chose it: it has a test/);
  });

  it('fails where none passes, and names the reason and the work of each', ALL, async (test) => {
    const script = ['try-1', 'try-2', 'try-3'].flatMap((task) => writes(task, task));
    const bench = benchFor(test, script);
    // A try gets the variables that `verify` gets.
    const verify = [{ run: `test "$WORD" = hi || exit 3; ${VERIFY}`, env: ['WORD'] }];
    bench.settings({ agents: TEAM, verify });
    const finished = await bench.run(bestOf(), { WORD: 'hi' });
    expect(finished.code).toBe(1);
    const { headline, failures } = finished.lines.at(-1) as {
      headline: string;
      failures: { work: unknown; next: string[] }[];
    };
    expect(headline).toMatch(/^FAILED, no try can be delivered; try-1: .*it does not greet/);
    expect(failures.map(({ work, next }) => [work === null, next])).toEqual(
      [1, 2, 3].map((number) => [false, [`squad retry try-${number} --run make-things`]]),
    );
    expect(bench.fileOnBranch('greeting.txt')).toBeUndefined();
  });

  it.for([
    ['1', 'a run has 2 to 9 tries, not 1'],
    ['10', 'a run has 2 to 9 tries, not 10'],
    ['many', '“many” is no number of tries'],
  ] as const)('refuses %s tries', { ...SPREAD }, async ([count, message], test) => {
    const bench = benchFor(test, []);
    const { code, stderr } = await bench.run(['best-of', count, 'objective.md', '--yes']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).toContain('squad best-of 3 "add a login form"');
  });

  it('refuses tries of another playbook', { ...SPREAD }, async (test) => {
    const { code, stderr } = await benchFor(test, []).run(['run', 'objective.md', '--tries', '3', '--yes']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('only the playbook best-of has tries')]);
  });
});

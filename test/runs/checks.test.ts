// @module-tag all
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { ALL, NIGHT, SPREAD, some } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench, startsOf, type RunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, objective, piece, plan, type Entry } from './run-script.ts';

type Test = { onTestFinished: (end: () => void) => void };

const PLAN = plan([piece('a')]);
const BUILT = author('a', commits({ 'a.txt': 'wrong\n' }));
const NOTHING_WRONG = again('a', 'verify', [{ answer: 'I find nothing to change: the check is flaky' }]);
const GOOD = 'DONE, all work is delivered and verified';

/** Fails in these of its runs, counted from 0 and across folders. */
function failsIn(...runs: readonly number[]): string {
  const count = 'n=$(cat "$HOME/count" 2>/dev/null || echo 0); echo $((n + 1)) > "$HOME/count"';
  return `${count}; case " ${runs.join(' ')} " in *" $n "*) echo "broke in $n"; exit 1;; esac`;
}

function benchFor(
  { onTestFinished }: Test,
  about: {
    script?: readonly Entry[];
    verify?: readonly string[];
    setup?: readonly string[];
    criteria?: readonly string[];
    keep?: string[];
  },
): RunBench {
  const { script = [], verify = [], setup = [], criteria = ['test -f a.txt'], ...more } = about;
  const bench = openRunBench({
    script: [PLAN, BUILT, ...script, APPROVE_ALL],
    files: { '.gitignore': 'out/\nmodules/\n' },
    settings: {
      baseline: 'off',
      verify: verify.map((run) => ({ run })),
      setup: setup.map((run) => ({ run })),
      ...more,
    },
    objective: objective({ criteria: criteria.map((run) => `it holds (run: \`${run}\`)`) }),
  });
  onTestFinished(() => bench.end());
  return bench;
}

const headlineOf = (ended: { lines: readonly Record<string, unknown>[] }): unknown => ended.lines.at(-1)?.['headline'];

describe.concurrent('a check that does not always have the same result', { timeout: 300_000 }, () => {
  it('runs again where its author finds nothing to change, and is called flaky', async (test) => {
    const command = failsIn(0);
    const bench = benchFor(test, { verify: [command], script: [NOTHING_WRONG] });
    const ended = await bench.runAll();
    expect(headlineOf(ended), ended.stderr).toMatch(`${GOOD}; flaky (failed and passed on the same commit): `);
    expect(ended.code).toBe(0);
    // The planner, the author twice, and one review: no one is charged for it.
    expect(startsOf(ended)).toHaveLength(4);
    expect(await bench.report()).toContain('Flaky, because it failed and passed on the same commit: ');
  });

  it('goes on in the last check of the run, and is called flaky', ALL, async (test) => {
    const bench = benchFor(test, { verify: [failsIn(1)] });
    const ended = await bench.runAll();
    expect([ended.code, headlineOf(ended)]).toEqual([
      0,
      expect.stringContaining(`${GOOD}; flaky (failed and passed on the same commit): `),
    ]);
    expect(startsOf(ended)).toHaveLength(3);
  });

  it('may be a criterion', ALL, async (test) => {
    const bench = benchFor(test, { criteria: [failsIn(0)] });
    const ended = await bench.runAll();
    expect([ended.code, headlineOf(ended)]).toEqual([
      0,
      expect.stringContaining(`${GOOD}; flaky (failed and passed on the same commit): `),
    ]);
  });

  it('runs once for `verify` and for a criterion that is the same command', ALL, async (test) => {
    const command = failsIn(2, 3);
    const bench = benchFor(test, { verify: [command], criteria: [command] });
    const ended = await bench.runAll();
    expect([ended.code, headlineOf(ended)], ended.stderr).toEqual([0, GOOD]);
  });

  it('fails where it fails again, with the check as the cause', NIGHT, async (test) => {
    const none = [NOTHING_WRONG, again('a', 'evidence', [{ answer: 'still nothing' }])];
    const bench = benchFor(test, { verify: [failsIn(0, 1, 2, 3)], script: none });
    const ended = await bench.runAll();
    expect([ended.code, headlineOf(ended)]).toEqual([1, expect.stringContaining('broke in 0')]);
    expect(headlineOf(ended)).toContain('nothing was changed since');
  });
});

describe.concurrent('a check', { timeout: 300_000 }, () => {
  it('finds nothing of what the one before has repaired, and what it changed is reported', async (test) => {
    const criteria = ['sed -i s/wrong/right/ a.txt', 'grep -q right a.txt'];
    const bench = benchFor(test, { criteria });
    const ended = await bench.runAll();
    expect([ended.code, headlineOf(ended)]).toEqual([1, expect.stringContaining('grep -q right a.txt')]);
    expect(await bench.report()).toContain(
      'Changed 1 file, which is not part of the work (a.txt): sed -i s/wrong/right/ a.txt',
    );
    expect(git(bench.repository, 'show', 'squad/make-things:a.txt').trim()).toBe('wrong');
  });

  it('finds what the ones before have deleted', ALL, async (test) => {
    const bench = benchFor(test, { criteria: ['rm -rf .git a.txt out', 'grep -q wrong a.txt && git status'] });
    expect([(await bench.runAll()).code]).toEqual([0]);
  });

  it(
    'finds what `setup` made, also after another has deleted it, and what `verify` has built before',
    ALL,
    async (test) => {
      const bench = benchFor(test, {
        setup: ['mkdir -p modules && echo lib > modules/lib'],
        verify: ['mkdir -p out && cp a.txt out/a', 'test -f out/a'],
        criteria: ['rm -r modules', 'test -f modules/lib', 'test ! -e out'],
      });
      expect([(await bench.runAll()).code]).toEqual([0]);
    },
  );

  it('finds no folder that another candidate has left, except what `keep` names', ALL, async (test) => {
    const leave = 'test ! -e out/left && mkdir -p out modules/x && touch out/left modules/x/left';
    const bench = benchFor(test, { verify: [leave], criteria: ['test -e modules/x/left'], keep: ['modules'] });
    expect([(await bench.runAll()).code]).toEqual([0]);
  });
});

describe.concurrent('work that adds nothing to what is delivered', { timeout: 300_000 }, () => {
  it('is delivered: two builders made the same change', async (test) => {
    const same = commits({ 'shared.txt': 'same\n' });
    const bench = openRunBench({
      script: [plan([piece('a'), piece('b')]), author('a', same), author('b', same), APPROVE_ALL],
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect([ended.code, headlineOf(ended)], ended.stderr).toEqual([0, GOOD]);
  });
});

const POINTS = [
  'git.set-aside',
  'git.checked-out',
  'git.folder-filled:2',
  ...[4, 5, 6, 7, 8, 9].flatMap((time) => [`attempt.claimed:${time}`, `attempt.settled:${time}`]),
  ...[3, 4, 5].map((time) => `operation.before-note:${time}`),
];

const LOSSES = POINTS.flatMap((point) => [
  [point, ''],
  [point, ', also if its folder is gone then'],
]);

/** As after a power cut: of the folder for checks and the notes about it, nothing is there. */
function loseFolder(repository: string): void {
  const work = join(stateOf(repository), 'work', 'make-things');
  rmSync(join(work, '_integration'), { recursive: true, force: true });
  for (const name of readdirSync(join(work, '.squad'))) {
    if (name.startsWith('_integration')) rmSync(join(work, '.squad', name), { recursive: true, force: true });
  }
}

describe.concurrent('an engine that is killed while it checks', { timeout: 300_000 }, () => {
  it.each(some(LOSSES, 0, 2))('at %s leaves nothing that the next check finds%s', SPREAD, async (point, lost) => {
    const bench = openRunBench({
      script: [PLAN, BUILT, APPROVE_ALL],
      files: { '.gitignore': 'out/\nmodules/\n' },
      settings: {
        baseline: 'off',
        setup: [{ run: 'sleep 0.3; mkdir -p modules && echo lib > modules/lib' }],
        verify: [{ run: 'mkdir -p out && cp a.txt out/a' }, { run: 'test -f out/a && test -f modules/lib' }],
      },
      objective: objective({
        criteria: [
          'test ! -e out && mkdir out modules/x',
          'test ! -e out && test ! -e modules/x && rm -r modules',
          'test -f modules/lib',
        ].map((run) => `it holds (run: \`${run}\`)`),
      }),
    });
    try {
      const killed = await bench.runAll([], { SQUAD_FAILPOINTS: `${point}=kill` });
      expect(killed.code, `${point} was reached: ${killed.stderr}`).not.toBe(0);
      if (lost !== '') loseFolder(bench.repository);
      const ended = await bench.run(['resume', '--json']);
      expect([ended.code, headlineOf(ended)], ended.stderr).toEqual([0, GOOD]);
    } finally {
      bench.end();
    }
  });
});

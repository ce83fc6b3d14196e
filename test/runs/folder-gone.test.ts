import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, piece, plan, verdict, type Entry, type Step } from './run-script.ts';
import { ALL, some } from '../support/lane.ts';

const PLAN = plan([piece('a')]);
const COMMIT = commits({ 'a.txt': 'a\n' });
const MORE = commits({ 'b.txt': 'b\n' });
const ANSWER = { answer: 'done' };

function sh(line: string): Step {
  return { run: ['/bin/sh', '-c', line] };
}

/** The reviewer wants more, and loses the author's folder meanwhile. */
function whileReviewed(line: string): Entry[] {
  const rejects = verdict('a', ['there is no b'], 1);
  return [author('a', COMMIT), { ...rejects, steps: [sh(line)] }, again('a', 'review', MORE)];
}

/** Of the whole run, so that the engine's notes are gone too. */
const ALL_FOLDERS = 'D=$(dirname "$PWD"); cd / && rm -rf "$D"';

describe.concurrent('a task’s folder that is gone', { timeout: 300_000 }, () => {
  const gone: [string, Entry[]][] = [
    [
      'after its agent committed in it',
      [
        author('a', [...COMMIT.slice(0, -1), sh('rm -rf "$PWD"'), ANSWER], { turn: 1 }),
        again('a', 'evidence', [...COMMIT.slice(0, -1), ...MORE]),
      ],
    ],
    [
      'before its agent committed anything',
      [
        author('a', [sh('rm -rf "$PWD"'), ANSWER], { turn: 1 }),
        again('a', 'evidence', [...COMMIT.slice(0, -1), ...MORE]),
      ],
    ],
    [
      'but for its own name',
      [
        author('a', [sh('rm -rf ./* ./.git'), ANSWER], { turn: 1 }),
        again('a', 'evidence', [...COMMIT.slice(0, -1), ...MORE]),
      ],
    ],
    ['while its work is judged', whileReviewed('rm -rf "$(dirname "$PWD")/a"')],
    ['with all others', whileReviewed(ALL_FOLDERS)],
  ];

  it.for(some(gone, 0, 1))('%s, is made again from what was kept', ALL, async ([, script], test) => {
    const bench = openRunBench({ script: [PLAN, ...script, APPROVE_ALL] });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr + ended.stdout).toBe(0);
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('b.txt')]).toEqual(['a', 'b']);
  });

  it('after its engine died, is made again for the engine that resumes', ALL, async (test) => {
    const bench = openRunBench({ script: [PLAN, ...whileReviewed('true'), APPROVE_ALL] });
    test.onTestFinished(() => bench.end());
    // The verdict is there, and its author is not yet asked again.
    await bench.runAll([], { SQUAD_FAILPOINTS: 'attempt.settled:3=kill' });
    const folders = join(stateOf(bench.repository), 'work');
    expect(readdirSync(folders)).toHaveLength(1);
    rmSync(folders, { recursive: true });
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, resumed.stderr + resumed.stdout).toBe(0);
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('b.txt')]).toEqual(['a', 'b']);
  });
});

it(
  'a delivered task’s folder is removed while the next task is at work',
  { ...ALL, timeout: 120_000 },
  async (test) => {
    const gone = sh('for i in $(seq 400); do test -e ../a || exit 0; sleep 0.1; done; exit 1');
    const bench = openRunBench({
      script: [
        plan([piece('a'), piece('b', { needs: ['a'] })]),
        author('a', COMMIT),
        author('b', [gone, ...MORE]),
        APPROVE_ALL,
      ],
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr + ended.stdout).toBe(0);
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('b.txt')]).toEqual(['a', 'b']);
    expect(git(bench.repository, 'for-each-ref', '--format=%(refname:lstrip=3)', 'refs/squad')).toContain('a-1');
  },
);

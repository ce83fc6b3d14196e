// @module-tag all
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { ALL, some, SPREAD } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench, statusOf, type RunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, piece, plan, type Entry, type Step } from './run-script.ts';

const RUN = 'make-things';
const sh = (line: string): Step => ({ run: ['/bin/sh', '-c', line] });
const work = (steps: readonly Step[]): Entry => author('a', [...steps, { answer: 'done' }], { turn: 1 });
const FILE = 'echo a >a.txt; git add --all; git commit --quiet --message work; ';

/** What an agent left in a clone whose HEAD has nothing; what squad says of it; and how the next turn repairs it. */
const WAYS: readonly (readonly [string, string, string, string])[] = [
  [
    'a branch',
    `git switch --quiet --create mine; ${FILE} git checkout --quiet --detach HEAD~1`,
    'a commit was made on the branch `mine`; HEAD does not have it',
    'git merge --quiet mine',
  ],
  [
    'a stash',
    'echo a >a.txt; git add --all; git stash push --quiet',
    'work is in a stash; HEAD does not have it',
    'git stash pop --quiet; git add --all; git commit --quiet --message work',
  ],
  [
    'a detached HEAD',
    `${FILE} git checkout --quiet --detach HEAD~1`,
    'was made, and no branch has it; HEAD does not have it',
    'git merge --quiet HEAD@{1}',
  ],
];

function benchOf(test: { onTestFinished: (end: () => void) => void }, script: readonly Entry[], more = {}): RunBench {
  const bench = openRunBench({ script, ...more });
  test.onTestFinished(() => bench.end());
  return bench;
}

function sideRefs({ repository }: RunBench): string[] {
  const refs = git(repository, 'for-each-ref', '--format=%(refname)', `refs/squad/${RUN}/`);
  return refs.split('\n').filter((ref) => ref.includes('-side-'));
}

describe.concurrent('work that HEAD of a clone does not have', { timeout: 300_000 }, () => {
  it.for(some(WAYS, 0, 1))(
    '%s: the next turn hears of it, and repairs it',
    SPREAD,
    async ([, leave, said, repair], test) => {
      const repaired: Entry = { ...again('a', 'evidence', [sh(repair), { answer: 'done' }]) };
      const bench = benchOf(test, [plan([piece('a')]), work([sh(leave)]), repaired, APPROVE_ALL]);
      const ended = await bench.runAll();
      expect(ended.code, ended.stderr + ended.stdout).toBe(0);
      expect(JSON.stringify(ended.lines)).toContain(said);
      expect(bench.fileOnBranch('a.txt')).toBe('a');
    },
  );

  it.for(some(WAYS, 0, 1))(
    '%s: a failed task says so, and shows where it is',
    SPREAD,
    async ([, leave, said], test) => {
      const nothing: Entry = { when: '', steps: [{ answer: 'nothing' }] };
      const bench = benchOf(test, [plan([piece('a')]), work([sh(leave)]), nothing]);
      const ended = await bench.runAll();
      expect(ended.code, ended.stderr).toBe(1);
      const { failures } = await bench.status();
      expect(failures).toMatchObject([{ task: 'a', why: expect.stringContaining(said) as string }]);
      expect(failures[0]?.why).not.toContain('no commit was made');
      const [ref = '', ...others] = sideRefs(bench);
      expect(others).toEqual([]);
      expect(failures[0]?.work).toMatchObject({ ref });
      expect(git(bench.repository, 'show', `${ref}:a.txt`)).toBe('a');
      expect(await bench.report()).toContain(ref);
      expect((await bench.run(['show', 'a'])).stdout).toContain(ref);
      expect((await bench.run(['clean', '--refs'])).stdout).toMatch(/removed {2}\d refs? below/);
      expect(sideRefs(bench)).toEqual([]);
    },
  );

  it('stays at refs of a run that is cancelled while its agent is at work', ALL, async (test) => {
    const lines = [WAYS[0], WAYS[1]].map((way) => sh(way?.[1] ?? ''));
    const bench = benchOf(test, [plan([piece('a')]), work([...lines, sh('echo x >hidden; touch ready; sleep 60')])], {
      files: { '.gitignore': 'hidden\nready\n' },
    });
    const run = bench.startRun();
    await run.line(({ type, task }) => type === 'tool-ended' && task === 'a');
    const ready = join(stateOf(bench.repository), 'work', RUN, 'a', 'ready');
    await expect.poll(() => existsSync(ready), { timeout: 60_000 }).toBe(true);
    expect((await bench.run(['cancel', '--reason', 'wrong idea'])).code).toBe(0);
    const ended = await run.finished;
    expect(ended.lines.at(-1), ended.stderr).toMatchObject({ outcome: 'cancelled' });
    const refs = sideRefs(bench);
    expect(refs).toHaveLength(2);
    for (const ref of refs) expect(git(bench.repository, 'show', `${ref}:a.txt`)).toBe('a');
    expect(git(bench.repository, 'show', `refs/squad/${RUN}/a-1:hidden`)).toBe('x');
  });

  it('is lost, and said to be, where the folder vanished before squad could look', ALL, async (test) => {
    const bench = benchOf(test, [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL]);
    await bench.runAll([], { SQUAD_FAILPOINTS: 'attempt.settled:2=kill' });
    rmSync(join(stateOf(bench.repository), 'work', RUN, 'a'), { recursive: true });
    const nothing: Entry = { when: '', steps: [{ answer: 'nothing' }] };
    bench.rescript([again('a', 'evidence', [{ answer: 'I did it' }]), nothing]);
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, resumed.stderr).toBe(1);
    const status = await bench.status();
    expect(statusOf(status, 'a')).toBe('failed');
    const feedback = JSON.stringify(resumed.lines);
    expect(feedback).toContain('lost: what a-1 made is gone');
  });
});

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { again, APPROVE_ALL, author, commits, piece, plan, verdict } from '../runs/run-script.ts';
import { git } from '../support/git.ts';

const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
const RUN = 'make-things';

/** One finished run: `one` was rejected once; `two` has names and text that a terminal would obey. */
let bench: RunBench;

beforeAll(async () => {
  const script = [
    plan([piece('one'), piece('two')]),
    author('one', [{ say: 'I begin.' }, ...commits({ 'one.txt': 'wrong\n' })]),
    verdict('one', ['one.txt: it is wrong'], 1),
    again('one', 'review', commits({ 'one.txt': 'right\n' })),
    author('two', [
      { say: '\u001b[2Jhello\u202e' },
      ...commits({ 'tw\u001b[31mo\u202e.txt': 'a\u001b[2Jb\rc\u202e\n' }),
    ]),
    APPROVE_ALL,
  ];
  bench = openRunBench({ script });
  const run = await bench.runAll();
  expect(run.code, run.stderr).toBe(0);
}, 120_000);
afterAll(() => bench.end());

const squad = async (...words: string[]) => bench.run(words);

describe('squad runs', () => {
  it('has one line for a run, and one object with --json', async () => {
    expect((await squad('runs')).stdout).toMatch(/^run +state[^\n]+\nmake-things +done .* 3\/3 +all work is delivered/);
    const { lines } = await squad('runs', '--json');
    expect(lines).toMatchObject([{ type: 'run', name: RUN, state: 'done', tasks: { all: 3, done: 3 }, need: null }]);
  });
});

describe('squad diff', () => {
  it('shows what the run delivered, with nothing that a terminal obeys', async () => {
    const { stdout, code } = await squad('diff');
    expect(code).toBe(0);
    expect(stdout).toContain('+right\n');
    expect(stdout).toContain(String.raw`+a\u001b[2Jb\u000dc\u202e`);
    expect(stdout).not.toMatch(OBEYED);
    expect(stdout).not.toContain('+wrong');
  });

  it.each([
    ['a task', ['diff', 'one']],
    ['a task of a named run', ['diff', RUN, 'one']],
  ])('shows %s', async (_title, words) => {
    const { stdout } = await squad(...words);
    expect(stdout).toMatch(/^diff --git a\/one\.txt b\/one\.txt\n/);
    expect(stdout).not.toContain('two');
  });

  it('counts lines, and names files', async () => {
    expect((await squad('diff', 'one', '--stat')).stdout).toMatch(/^ one\.txt \| 1 \+\n 1 file changed/);
    const names = (await squad('diff', '--name-only')).stdout;
    expect(names).toBe(`one.txt\n${String.raw`tw\u001b[31mo\u202e.txt`}\n`);
  });

  it('gives programs the exact names', async () => {
    const [found] = (await squad('diff', '--json')).lines;
    expect(found).toMatchObject({
      type: 'diff',
      name: RUN,
      task: null,
      to: git(bench.repository, 'rev-parse', `squad/${RUN}`),
    });
    expect(found?.['files']).toEqual([
      { path: 'one.txt', status: 'added', added: 1, deleted: 0 },
      { path: 'tw\u001b[31mo\u202e.txt', status: 'added', added: 1, deleted: 0 },
    ]);
    expect(found?.['patch']).toContain('+a\u001b[2Jb\rc\u202e\n');
    expect((await squad('diff', '--json', '--stat')).lines[0]).not.toHaveProperty('patch');
  });

  it.each<[string[], RegExp]>([
    [['diff', 'onee'], /no run or task onee; did you mean one\?/],
    [['diff', 'make-thing'], /did you mean make-things\?/],
    [['diff', RUN, 'tow'], /no task tow; did you mean two\?/],
    [['diff', 'nobody', 'one'], /no run is called nobody/],
    [['diff', 'plan'], /plan of make-things has no work in this repository/],
    [['diff', '--stat', '--name-only'], /cannot be given together/],
  ])('%j is a usage error', async (words, expected) => {
    const run = await squad(...words);
    expect(run.stderr).toMatch(expected);
    expect(run.stderr).toMatch(/\nNext: /);
    expect(run).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('squad show', () => {
  it('tells of a run what was asked, its tasks, verdicts, turns and diff', async () => {
    const { stdout, code } = await squad('show');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^make-things {2}done {2}Make things\n {2}DONE, /);
    expect(stdout).toMatch(/\nAsked\n {2}# Objective: Make things\n/);
    expect(stdout).toMatch(/\n {2}one round 1 at [0-9a-f]{12} rejected: .*one\.txt: it is wrong/);
    expect(stdout).toMatch(/\n {2}one-1 +\S+ +completed +[\d.]+ s +done\n/);
    expect(stdout).toContain('+right\n');
    expect(stdout).not.toMatch(OBEYED);
  });

  it('tells of a task what its agents were asked, said and did, turn by turn', async () => {
    const { stdout } = await squad('show', 'one');
    expect(stdout).toMatch(/^one {2}done {2}Make one\n/);
    expect(stdout).toMatch(/\none-1 {2}turn by [^]*\n {2}says {6}I begin\.\n {2}ok {8}write one\.txt\n/);
    expect(stdout).toMatch(/\none-2 {2}review by [^]*"approved": false/);
    expect(stdout).toMatch(/\none-3 {2}turn by [^]*was rejected in review[^]*\+right\n/);
    expect(stdout).toMatch(/… \d+ more lines: squad show make-things\.\w+\.one-1\n/);
    expect((await squad('show', 'two')).stdout).not.toMatch(OBEYED);
  });

  it('tells of an attempt all that it was asked, and what it had done then', async () => {
    const { stdout } = await squad('show', 'one-1');
    expect(stdout).toMatch(/^one-1 {2}turn by /);
    expect(stdout).not.toContain('more lines');
    expect(stdout).toContain('+wrong\n');
    const [found] = (await squad('show', 'one-2', '--run', RUN, '--json')).lines;
    expect(found).toMatchObject({
      type: 'show',
      name: RUN,
      task: null,
      diff: null,
      turns: [{ attempt: 'one-2', isReview: true }],
    });
    const id = String(found?.['attempt']);
    expect((await squad('show', id)).stdout).toMatch(/^one-2 {2}review by /);
  });

  it('gives programs all of a task', async () => {
    const [found] = (await squad('show', 'one', '--json')).lines;
    expect(found).toMatchObject({
      ...{ task: 'one', attempt: null, status: { name: RUN }, diff: { files: [{ path: 'one.txt' }] } },
      tasks: [{ id: 'one', status: 'done', rounds: [{ approved: false }, { approved: true }] }],
    });
    const turns = found?.['turns'] as { kind: string }[];
    expect(turns.filter(({ kind }) => kind === 'turn')).toHaveLength(4);
  });

  it('says what is not kept', async () => {
    const turns = join(bench.repository, '.squad', 'turns');
    renameSync(turns, `${turns}-away`);
    try {
      const { stdout, code } = await squad('show', 'one');
      expect(code).toBe(0);
      expect(stdout).toMatch(/\n {2}asked {5}# Task one/);
      expect(stdout).toMatch(/\n {2}did {7}not kept\n {2}answers {3}done\n/);
    } finally {
      renameSync(`${turns}-away`, turns);
    }
    expect((await squad('show', 'plan')).stdout).toMatch(/\nWork\n {2}none, or its commits are not kept\n$/);
  });

  it.each<[string[], RegExp]>([
    [['show', 'onee'], /no run, task or attempt onee; did you mean one\?/],
    [['show', 'two-11', '--run', RUN], /no task or attempt two-11; did you mean two-1\?/],
    [['show', 'one', '--run', 'make-thing'], /did you mean make-things\?/],
  ])('%j is a usage error', async (words, expected) => {
    expect(await squad(...words)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(expected) });
  });
});

describe('squad merge', () => {
  const main = () => git(bench.repository, 'rev-parse', 'main');
  const reset = (to: string): string => git(bench.repository, 'reset', '-q', '--hard', to);

  it.each<[string, () => void, RegExp]>([
    [
      'a dirty checkout',
      () => writeFileSync(join(bench.repository, 'readme.md'), 'x'),
      /changes in readme\.md\nNext: Commit or stash/,
    ],
    [
      'a detached HEAD',
      () => git(bench.repository, 'checkout', '-q', '--detach'),
      /HEAD is detached\nNext: .*git switch/,
    ],
    [
      'the run branch itself',
      () => git(bench.repository, 'switch', '-q', `squad/${RUN}`),
      /run branch squad\/make-things itself/,
    ],
    [
      'a conflict',
      () => {
        writeFileSync(join(bench.repository, 'one.txt'), 'mine\n');
        git(bench.repository, 'add', 'one.txt');
        git(bench.repository, 'commit', '-q', '-m', 'mine');
      },
      /same lines in one\.txt; nothing was changed\nNext: .*git -C .* merge squad\/make-things/,
    ],
    [
      'a run branch that was moved',
      () => git(bench.repository, 'branch', '-f', `squad/${RUN}`, `squad/${RUN}~1`),
      /nobody checked the difference\nNext: .*--unverified/,
    ],
  ])('refuses %s', async (_title, arrange, expected) => {
    const [before, work] = [main(), git(bench.repository, 'rev-parse', `squad/${RUN}`)];
    try {
      arrange();
      const arranged = main();
      const run = await squad('merge');
      expect(run.stderr).toMatch(expected);
      expect(run).toMatchObject({ code: 2, stdout: '' });
      expect(main()).toBe(arranged);
    } finally {
      git(bench.repository, 'switch', '-q', '-f', 'main');
      reset(before);
      git(bench.repository, 'branch', '-f', `squad/${RUN}`, work);
    }
  });

  it('takes the work, once', async () => {
    const before = main();
    try {
      const merged = await squad('merge', '--json');
      expect(merged.lines).toMatchObject([{ type: 'merged', name: RUN, branch: 'main', how: 'fast-forward' }]);
      expect(main()).toBe(git(bench.repository, 'rev-parse', `squad/${RUN}`));
      expect(git(bench.repository, 'status', '--porcelain', '--untracked-files=no')).toBe('');
      const again = await squad('merge', RUN);
      expect(again.stdout).toBe(
        `merged    squad/${RUN} into main: nothing was left to merge\nNext: squad drop ${RUN}\n`,
      );
    } finally {
      reset(before);
    }
  });
});

describe('help', () => {
  it.each(['runs', 'show', 'diff', 'merge'])('of %s has an example', async (name) => {
    expect((await bench.run([name, '--help'], {})).stdout).toMatch(new RegExp(`Example:\\n {2}squad ${name}`));
  });
});

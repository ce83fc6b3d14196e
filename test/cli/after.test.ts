import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { again, APPROVE_ALL, author, commits, piece, plan, verdict, waitFor } from '../runs/run-script.ts';
import { git } from '../support/git.ts';
import { commandRoom } from './room.ts';
import { stateOf } from '../support/state.ts';
import { ALL } from '../support/lane.ts';

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
  it('has nothing to list where nothing ever ran, and makes nothing', async () => {
    const room = commandRoom();
    const { code, stdout } = await room.run(['runs']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'There is no run here yet. Start one: squad run objective.md\n',
    });
    expect((await room.run(['runs', '--json'])).stdout).toBe('');
    expect(readdirSync(room.repository).toSorted()).toEqual(['.git', 'readme.md']);
  });

  it('has one line for a run, and one object with --json', async () => {
    expect((await squad('runs')).stdout).toMatch(/^run +state[^\n]+\nmake-things +done .* 3\/3 +all work is delivered/);
    const { lines } = await squad('runs', '--json');
    expect(lines).toMatchObject([{ type: 'run', name: RUN, state: 'done', tasks: { all: 3, done: 3 }, need: null }]);
  });

  it('says in one line what they did since a time', async () => {
    const { stdout, code } = await squad('runs', '--since', '2h');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^since [^\n]*: 1 done \(make-things\); (?:USD [\d.]+\+?|cost unknown)\n$/);
    const { lines } = await squad('runs', '--since', '2h', '--json');
    const since = { type: 'runs-since', since: expect.any(Number), runs: [{ name: RUN, state: 'done', why: null }] };
    expect(lines).toMatchObject([since]);
  });

  it.each([
    ['last night', /^squad: last night is no time\nNext: Give a time that has been: `squad runs --since 18:00`/],
    ['2199-01-01', /^squad: 2199-01-01 is still to come\nNext: Give a time that has been: /],
  ])('refuses --since %j with an example', async (text, stderr) => {
    expect(await squad('runs', '--since', text)).toMatchObject({
      code: 65,
      stdout: '',
      stderr: expect.stringMatching(stderr),
    });
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

  it('shows the plan of a run that asked about none: its tasks, without the planning', async () => {
    const { stdout } = await squad('show', 'plan');
    expect(stdout).toMatch(/^Plan of make-things: 2 tasks\n\n1\. one /);
    expect(stdout).toContain('No person was asked about it.');
  });

  it('says what is not kept', async () => {
    const turns = join(stateOf(bench.repository), 'turns');
    renameSync(turns, `${turns}-away`);
    try {
      const { stdout, code } = await squad('show', 'one');
      expect(code).toBe(0);
      expect(stdout).toMatch(/\n {2}asked {5}# Task one/);
      expect(stdout).toMatch(/\n {2}did {7}not kept\n {2}answers {3}done\n/);
    } finally {
      renameSync(`${turns}-away`, turns);
    }
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
      /the difference was not checked\nNext: .*--unverified/,
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

  it.each<[string, string[], RegExp]>([
    ['no branch', ['--into', 'nosuch'], /there is no branch nosuch\nNext: See .*`git branch nosuch`/],
    ['the run branch', ['--into', `squad/${RUN}`], /is the run branch itself\nNext: Name the branch/],
  ])('refuses to merge into %s', async (_title, options, expected) => {
    const run = await squad('merge', ...options);
    expect(run.stderr).toMatch(expected);
    expect(run).toMatchObject({ code: 2, stdout: '' });
  });

  it('brings all of it into another branch as one commit, and touches no file', ALL, async () => {
    const [before, status] = [main(), git(bench.repository, 'status', '--porcelain')];
    git(bench.repository, 'branch', 'later');
    try {
      const merged = await squad('merge', '--into', 'later', '--squash');
      expect(merged.stdout).toMatch(new RegExp(`^merged {4}squad/${RUN} into later: now at [0-9a-f]{12}, by squash\n`));
      expect(git(bench.repository, 'diff', '--stat', 'later', `squad/${RUN}`)).toBe('');
      expect(git(bench.repository, 'log', '-1', '--format=%P|%b', 'later')).toBe(
        `${before}|All of run ${RUN}, in one commit.`,
      );
      expect([main(), git(bench.repository, 'status', '--porcelain')]).toEqual([before, status]);
      const merges = async (): Promise<string[]> => {
        const [{ next = [] } = {}] = (await squad('status', '--json')).lines as { next?: string[] }[];
        return next.filter((command) => command.startsWith('squad merge'));
      };
      expect(await merges()).not.toEqual([]);
      git(bench.repository, 'switch', '--quiet', 'later');
      expect(await merges()).toEqual([]);
    } finally {
      git(bench.repository, 'switch', '--quiet', 'main');
      git(bench.repository, 'branch', '-D', 'later');
    }
  });

  it('takes the work, once', ALL, async () => {
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

describe('squad pr', () => {
  const FAKE_GH = fileURLToPath(new URL('../fixtures/forge/fake-gh.mjs', import.meta.url));
  const bin = (): string => join(bench.root, 'bin');
  const bare = (): string => join(bench.root, 'bare.git');
  const github = (more: object = {}): void =>
    writeFileSync(join(bench.root, 'github.json'), JSON.stringify({ branches: bare(), pulls: [], ...more }));
  const pr = async (...words: string[]) =>
    bench.run(['pr', ...words], { PATH: `${bin()}:${process.env['PATH'] ?? ''}` });

  it.each<[string, () => void, number, RegExp]>([
    ['no remote', () => undefined, 78, /no remote named origin\nNext: Add it with `git remote add/],
    [
      'a remote that is not on GitHub',
      () => git(bench.repository, 'remote', 'add', 'origin', bare()),
      78,
      /nothing was pushed: the remote origin is not a repository on GitHub or GitLab: .*\nNext: Push it yourself.*git push origin squad\/make-things/,
    ],
    [
      'no gh',
      () => git(bench.repository, 'remote', 'set-url', 'origin', 'https://github.com/acme/app.git'),
      78,
      /`gh`, is not on PATH\nNext: Install the GitHub CLI and log in/,
    ],
    [
      'no login',
      () => {
        mkdirSync(bin());
        symlinkSync(FAKE_GH, join(bin(), 'gh'));
        git(bench.root, 'init', '-q', '--bare', bare());
        git(bench.repository, 'remote', 'set-url', '--push', 'origin', bare());
        github({ mode: 'logged-out' });
      },
      78,
      /gh is not logged in to github\.com\nNext: Run `gh auth login --hostname github\.com`/,
    ],
    [
      'a run branch that was moved',
      () => git(bench.repository, 'branch', '-f', `squad/${RUN}`, `squad/${RUN}~1`),
      2,
      /the difference was not checked\nNext: Compare .*git push origin squad\/make-things/,
    ],
  ])('refuses with %s, and pushes nothing', ALL, async (_title, arrange, code, expected) => {
    const work = git(bench.repository, 'rev-parse', `squad/${RUN}`);
    arrange();
    const run = await pr();
    expect(run.stderr).toMatch(expected);
    expect(run).toMatchObject({ code, stdout: '' });
    expect(existsSync(bare()) ? git(bare(), 'for-each-ref') : '').toBe('');
    git(bench.repository, 'branch', '-f', `squad/${RUN}`, work);
  });

  it('pushes the work and opens one pull request, however often it is called', ALL, async () => {
    github();
    const head = git(bench.repository, 'rev-parse', `squad/${RUN}`);
    const url = 'https://github.com/acme/app/pull/1';
    const opened = await pr();
    expect(opened.stdout, opened.stderr).toBe(
      `pushed    squad/${RUN} to origin, at ${head.slice(0, 12)}\nopened    ${url}  (into main)\n`,
    );
    expect(git(bare(), 'rev-parse', `refs/heads/squad/${RUN}`)).toBe(head);
    const again = await pr(RUN, '--json');
    expect(again.lines, again.stderr).toMatchObject([
      { type: 'pull-request', name: RUN, remote: 'origin', base: 'main', commit: head, url },
    ]);
    const { pulls } = JSON.parse(readFileSync(join(bench.root, 'github.json'), 'utf8')) as {
      pulls: { body: string }[];
    };
    // As where the run opens it itself.
    expect(pulls.map(({ body }) => body)).toEqual([expect.stringMatching(/Report of squad[^]*## Tasks[^]*one[^]*## /)]);
    git(bench.repository, 'remote', 'remove', 'origin');
  });
});

describe('squad log', () => {
  it('is for people: local times, words, and how it ended', async () => {
    const { stdout, code } = await squad('log');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^make-things {2}Make things\n\d{4}-\d\d-\d\d\n(?:\d\d:\d\d:\d\d {2}[a-z]+ .*\n)+DONE, .*\n$/,
    );
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d {2}review {4}one round 1: rejected — /m);
    expect(stdout).not.toMatch(OBEYED);
  });

  it('shows only one task, one agent, or the end', async () => {
    const ofTask = (await squad('log', '--task', 'one')).stdout;
    expect(ofTask).toMatch(/turn {6}one-1 started/);
    expect(ofTask).not.toMatch(/ two| plan/);
    const [, agent = ''] = /turn {6}one-1 started: (\S+)/.exec(ofTask) ?? [];
    const ofAgent = (await squad('log', '--agent', agent)).stdout;
    expect(ofAgent).toMatch(/one-1 started/);
    expect(ofAgent).not.toMatch(/review {4}/);
    const [head, ...last] = (await squad('log', '--limit', '2')).stdout.trimEnd().split('\n');
    expect(head).toMatch(/^make-things/);
    expect(last).toHaveLength(3);
  });

  it('has the rows of the ledger with --raw, and the same objects as ever with --json', async () => {
    expect((await squad('log', '--raw', '--limit', '1')).stdout).toMatch(
      /^ {4}1 {2}\d{4}-\S+Z {2}make-things {2}run-created /,
    );
    const { lines } = await squad('log', '--json', '--after', '1', '--limit', '1');
    expect(lines).toMatchObject([
      { seq: 2, type: 'lease-acquired', stream: expect.any(String), cause: null, data: {} },
    ]);
  });

  it('follows a run that is over to its end', async () => {
    const followed = await squad('log', '--follow', '--task', 'one');
    expect(followed.stdout).toBe((await squad('log', '--task', 'one')).stdout);
    expect(followed.code).toBe(0);
  });

  it.each<[string[], RegExp]>([
    [['log', '--task', 'onee'], /no task onee; did you mean one\?/],
    [['log', '--agent', 'nobody-at-all'], /no agent nobody-at-all; there are /],
    [['log', 'make-thing'], /did you mean make-things\?/],
    [['log', '--after', '3'], /--after counts rows of the ledger\nNext: .*--raw/],
    [['log', '--raw', '--task', 'one'], /do not go with --raw/],
  ])('%j is a usage error', async (words, expected) => {
    expect(await squad(...words)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(expected) });
  });
});

describe('squad open', () => {
  it('says of a folder that was given back which commit has its work', async () => {
    const { code, stdout, stderr } = await squad('open', 'one', '--print');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const [, commit = ''] = /git worktree add \.\.\/make-things-one ([0-9a-f]{12})`/.exec(stderr) ?? [];
    expect(stderr).toContain('the folder of one was given back');
    expect(git(bench.repository, 'show', '--stat', commit)).toContain('one.txt');
  });

  it.each([
    ['onee', /no task or agent onee; did you mean one\?\nNext: List the tasks and agents/],
    ['judge-of-all', /no task or agent judge-of-all/],
  ])('%j is a usage error', async (name, expected) => {
    expect(await squad('open', name)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(expected) });
  });
});

describe('a run that another process drives', () => {
  it('is followed to its end, with what its agents say', { ...ALL, timeout: 300_000 }, async () => {
    const live = openRunBench({ script: [] });
    const [begun, shown] = [join(live.root, 'begun'), join(live.root, 'shown')];
    const steps = [waitFor(begun), { say: 'I am at work.' }, waitFor(shown), ...commits({ 'one.txt': 'one\n' })];
    live.rescript([plan([piece('one')]), author('one', steps), APPROVE_ALL]);
    try {
      const engine = live.startRun();
      await engine.line(({ type, task }) => type === 'attempt-taken' && task === 'one');
      const opened = await live.run(['open', 'one', '--json']);
      expect(opened.lines).toMatchObject([{ type: 'folder', task: 'one', live: true, path: expect.any(String) }]);
      const [{ path = '', agent = '' } = {}] = opened.lines as { path?: string; agent?: string }[];
      expect(existsSync(join(path, '.git'))).toBe(true);
      expect((await live.run(['open', agent, '--print'])).stdout).toBe(`${path}\n`);
      const refused = await live.run(['drop', '--all', '--yes']);
      expect(refused).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/an engine runs make-things\nNext: .*squad stop/),
      });
      expect((await live.run(['merge'])).stderr).toMatch(
        /make-things is not over: it is running\nNext: .*--unverified/,
      );
      expect((await live.run(['runs'])).stdout).toMatch(/\nmake-things +running .* 1\/2 +Make things\n/);
      const follower = live.start(['log', '--follow']);
      let said = '';
      follower.child.stdout?.on('data', (text: string) => {
        said += text;
        writeFileSync(said.includes('I am at work.') ? shown : begun, '');
      });
      const [ended, followed] = await Promise.all([engine.finished, follower.finished]);
      expect(ended.code).toBe(0);
      expect(followed).toMatchObject({ code: 0, stderr: '' });
      expect(followed.stdout).toMatch(/ {2}says {6}I am at work\.\n[^]*task {6}one done[^]*\nDONE, .*\n$/);
    } finally {
      live.end();
    }
  });
});

describe('help', () => {
  it.each(['runs', 'open', 'show', 'diff', 'merge', 'pr', 'drop', 'log'])('of %s has an example', async (name) => {
    expect((await bench.run([name, '--help'], {})).stdout).toMatch(new RegExp(`Example:\\n {2}squad ${name}`));
  });
});

/** Last, because it takes the run apart. */
describe('squad drop', () => {
  const refs = (): string => git(bench.repository, 'for-each-ref', '--format=%(refname)');

  it('needs consent, and another branch to be checked out', async () => {
    const before = refs();
    expect(await squad('drop')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/consent\nNext: .*squad drop make-things --yes/),
    });
    git(bench.repository, 'switch', '-q', `squad/${RUN}`);
    expect(await squad('drop', '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is checked out in .*\nNext: .*git switch/),
    });
    git(bench.repository, 'switch', '-q', 'main');
    expect(refs()).toBe(before);
  });

  it('removes the branch and keeps its work, which can still be shown', async () => {
    const head = git(bench.repository, 'rev-parse', `squad/${RUN}`);
    const { stdout, code } = await squad('drop', '--yes');
    expect(code).toBe(0);
    const kept = `refs/squad/${RUN}/delivered-${head.slice(0, 12)}`;
    expect(stdout).toContain(`removed   branch squad/${RUN}, which was at ${head}\n`);
    expect(stdout).toContain(`git branch squad/${RUN} ${kept}\n`);
    expect(git(bench.repository, 'rev-parse', kept)).toBe(head);
    expect((await squad('diff')).stdout).toContain('+right\n');
    expect(await squad('merge')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/not there any more\nNext: .*git branch squad\/make-things/),
    });
  });

  it('removes everything with --all, but the history', ALL, async () => {
    const { lines } = await squad('drop', RUN, '--all', '--yes', '--json');
    expect(lines).toMatchObject([{ type: 'dropped', name: RUN, all: true, refs: { branch: { type: 'absent' } } }]);
    expect(lines[0]?.['turns']).toBeGreaterThan(0);
    expect(refs()).toBe('refs/heads/main');
    expect((await squad('runs')).stdout).toContain('make-things');
    expect((await squad('drop', '--all', '--yes')).stdout).toBe(`nothing is left of ${RUN} but its history\n`);
    const shown = await squad('show', 'one');
    expect(shown.stdout).toMatch(/did {7}not kept[^]*answers {3}done/);
  });
});

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createRepository, git } from '../support/git.ts';
import { ALL } from '../support/lane.ts';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan, type Entry } from './run-script.ts';

const FAKE_GH = fileURLToPath(new URL('../fixtures/forge/fake-gh.mjs', import.meta.url));
const RUN = 'make-things';
const BRANCH = `squad/${RUN}`;

const CLIENT = piece('client', { files: ['client.txt'] });
const SERVICE = piece('service', { files: ['repositories/api/service.txt'] });

const SCRIPT: readonly Entry[] = [
  plan([CLIENT, SERVICE]),
  author('client', commits({ 'client.txt': 'calls\n' }, 'call the service')),
  author('service', commits({ 'repositories/api/service.txt': 'answers\n' }, 'answer the client')),
  APPROVE_ALL,
];

const GATE = [{ run: 'test ! -f broken.txt' }];

interface Pair extends RunBench {
  readonly api: string;
  readonly path: Record<string, string>;
  /** Heads of the run's branch at both remotes; null: it is not there. */
  remotes(): (string | null)[];
  pulls(): { repo: string; head: string; base: string; body: string }[];
}

/** A client and its service, each with a bare repository for its remote, and a stand-in for `gh`. */
function openPair(about: {
  script?: readonly Entry[];
  publish?: Record<string, unknown>;
  repositories?: readonly Record<string, unknown>[];
  more?: Record<string, unknown>;
}): Pair {
  const { script = SCRIPT, publish, more = {} } = about;
  const { repositories = [{ path: '../api', role: 'the service that this client calls', verify: GATE }] } = about;
  const settings = { repositories, ...(publish === undefined ? {} : { publish }), ...more };
  const bench = openRunBench({ script, settings });
  const { root, repository } = bench;
  const api = createRepository(join(root, 'api'), { 'api.md': '# api\n' });
  const bares = [repository, api].map((path, index) => {
    const bare = join(root, `bare-${index}.git`);
    git(root, 'init', '-q', '--bare', bare);
    git(path, 'remote', 'add', 'origin', `https://github.com/acme/${index === 0 ? 'app' : 'api'}.git`);
    git(path, 'remote', 'set-url', '--push', 'origin', bare);
    git(path, 'push', '-q', 'origin', 'main');
    return bare;
  });
  const bin = join(root, 'bin');
  mkdirSync(bin);
  symlinkSync(FAKE_GH, join(bin, 'gh'));
  const branches = { 'github.com/acme/app': bares[0], 'github.com/acme/api': bares[1] };
  const github = join(root, 'github.json');
  writeFileSync(github, JSON.stringify({ branches, pulls: [] }));
  return {
    ...bench,
    api,
    path: { PATH: `${bin}:${process.env['PATH']}` },
    remotes: () => bares.map((bare) => headIn(bare, BRANCH)),
    pulls: () => (JSON.parse(readFileSync(github, 'utf8')) as { pulls: ReturnType<Pair['pulls']> }).pulls,
  };
}

function headIn(path: string, branch: string): string | null {
  const found = git(path, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`);
  return found === '' ? null : found;
}

function filesAt(path: string, at: string): string[] {
  return git(path, 'ls-tree', '-r', '--name-only', at).split('\n');
}

describe.concurrent('a run of several repositories', { timeout: 1_200_000 }, () => {
  it('delivers each on a branch of its own, and shows, merges and drops them together', async (test) => {
    const pair = openPair({});
    test.onTestFinished(() => pair.end());
    const { repository, api } = pair;
    const heads = [repository, api].map((path) => git(path, 'rev-parse', 'HEAD'));
    const ended = await pair.runAll();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    expect([repository, api].map((path) => git(path, 'rev-parse', 'HEAD'))).toEqual(heads);
    expect(filesAt(repository, BRANCH)).toEqual(['client.txt', 'readme.md']);
    expect(filesAt(api, BRANCH)).toEqual(['api.md', 'readme.md', 'service.txt']);
    expect(git(api, 'log', '--format=%s', `main..${BRANCH}`)).toContain('answer the client');
    expect(git(repository, 'merge-base', 'main', BRANCH)).toBe(heads[0]);
    const status = await pair.status();
    expect(status.repositories).toMatchObject([
      { name: '', path: repository, head: git(repository, 'rev-parse', BRANCH) },
      { name: 'api', path: api, head: git(api, 'rev-parse', BRANCH) },
    ]);
    expect((await pair.run(['status'])).stdout).toContain(`repositories/api (${api}): ${BRANCH} at`);
    expect(await pair.report()).toContain(api);
    const diff = await pair.run(['diff', '--name-only']);
    expect(diff.stdout.trim().split('\n').toSorted()).toEqual(['client.txt', 'repositories/api/service.txt']);
    const merged = await pair.run(['merge']);
    expect(merged.code, merged.stderr).toBe(0);
    expect(readFileSync(join(repository, 'client.txt'), 'utf8')).toBe('calls\n');
    expect(readFileSync(join(api, 'service.txt'), 'utf8')).toBe('answers\n');
    expect(existsSync(join(repository, 'repositories'))).toBe(false);
    expect((await pair.run(['status'])).stdout).toContain(`squad drop ${RUN}`);
    const dropped = await pair.run(['drop', RUN, '--all', '--yes']);
    expect(dropped.code, dropped.stderr).toBe(0);
    for (const path of [repository, api]) expect(git(path, 'for-each-ref', '--format=%(refname)')).not.toContain(RUN);
  });

  it('publishes both with pull requests that name each other', ALL, async (test) => {
    const pair = openPair({ publish: { remote: 'origin', pr: true } });
    test.onTestFinished(() => pair.end());
    const ended = await pair.runAll([], pair.path);
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    expect(pair.remotes()).toEqual([pair.repository, pair.api].map((path) => git(path, 'rev-parse', BRANCH)));
    expect(pair.pulls()).toMatchObject([
      {
        ...{ repo: 'github.com/acme/app', head: BRANCH, base: 'main' },
        body: expect.stringContaining('https://github.com/acme/api/pull/2') as string,
      },
      {
        ...{ repo: 'github.com/acme/api', head: BRANCH, base: 'main' },
        body: expect.stringContaining('https://github.com/acme/app/pull/1') as string,
      },
    ]);
  });

  it('says which were pushed where a hook refuses a later one', ALL, async (test) => {
    const pair = openPair({ publish: { remote: 'origin' } });
    test.onTestFinished(() => pair.end());
    const hook = join(pair.root, 'bare-1.git', 'hooks', 'pre-receive');
    writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const ended = await pair.runAll([], pair.path);
    expect(ended.code).not.toBe(0);
    const [app = null, api = null] = pair.remotes();
    expect(app).toBe(git(pair.repository, 'rev-parse', BRANCH));
    expect(api).toBeNull();
    const problem = JSON.stringify(ended.lines);
    expect(problem).toContain(`of repositories/api was not pushed to origin`);
    expect(problem).toContain(`(pushed before: ${pair.repository})`);
  });

  it(
    'is pushed with pull requests by `squad pr`, and its merged branches go with `squad clean --refs`',
    ALL,
    async (test) => {
      const pair = openPair({});
      test.onTestFinished(() => pair.end());
      expect((await pair.runAll()).code).toBe(0);
      const opened = await pair.run(['pr'], pair.path);
      expect(opened.code, opened.stderr).toBe(0);
      expect(pair.remotes()).toEqual([pair.repository, pair.api].map((path) => git(path, 'rev-parse', BRANCH)));
      expect(pair.pulls().map(({ body }) => body)).toEqual([
        expect.stringContaining('https://github.com/acme/api/pull/2'),
        expect.stringContaining('https://github.com/acme/app/pull/1'),
      ]);
      expect((await pair.run(['pr'], pair.path)).code).toBe(0);
      expect(pair.pulls()).toHaveLength(2);
      expect((await pair.run(['merge'])).code).toBe(0);
      const cleaned = await pair.run(['clean', '--refs', RUN]);
      expect(cleaned.code, cleaned.stderr).toBe(0);
      expect([pair.repository, pair.api].map((path) => headIn(path, BRANCH))).toEqual([null, null]);
    },
  );

  it('publishes neither while the gate of one is red', async (test) => {
    const [planned, client] = SCRIPT;
    const wrong = author('service', commits({ 'repositories/api/broken.txt': 'x\n' }));
    const script = [planned, client, wrong, APPROVE_ALL].flatMap((one) => one ?? []);
    const pair = openPair({ script, publish: { remote: 'origin' }, more: { limits: { turns: 12, retries: 1 } } });
    test.onTestFinished(() => pair.end());
    const ended = await pair.runAll([], pair.path);
    expect(ended.code).not.toBe(0);
    expect(JSON.stringify(ended.lines)).toContain('cd repositories/api || exit 1; test ! -f broken.txt');
    expect(pair.remotes()).toEqual([null, null]);
    expect(headIn(pair.api, BRANCH)).toBeNull();
  });

  it.for([
    ['repositories.brought', 1],
    ['repositories.placed', 1],
    ['repositories.pushed', 1],
    ['repositories.pushed', 2],
    ['repositories.opened', 1],
  ] as const)('ends the same after SIGKILL at %s:%s', ALL, async ([point, pass], test) => {
    const pair = openPair({ publish: { remote: 'origin', pr: true } });
    test.onTestFinished(() => pair.end());
    const killed = await pair.runAll([], { ...pair.path, SQUAD_FAILPOINTS: `${point}:${pass}=kill` });
    expect(killed.signal).toBe('SIGKILL');
    const resumed = await pair.run(['resume', '--json'], pair.path);
    expect(resumed.code, `${resumed.stderr}${JSON.stringify(resumed.lines.at(-1))}`).toBe(0);
    expect(turnsOf(resumed, 'client')).toEqual([]);
    expect(pair.remotes()).toEqual([pair.repository, pair.api].map((path) => git(path, 'rev-parse', BRANCH)));
    expect(filesAt(pair.repository, BRANCH)).toEqual(['client.txt', 'readme.md']);
    expect(pair.pulls()).toHaveLength(2);
    for (const { body } of pair.pulls()) expect(body).toMatch(/merge all of them, or none/);
  });

  it('gives a plan back whose tasks name no repository, an unknown one, or two', ALL, async (test) => {
    const bad = [
      piece('none'),
      piece('unknown', { files: ['repositories/web/a.txt'] }),
      piece('two', { files: ['a.txt', 'repositories/api/b.txt'] }),
    ];
    const script = [
      { ...plan(bad), turn: 1 },
      plan([CLIENT, SERVICE], 'This plan cannot be used:'),
      ...SCRIPT.slice(1),
    ];
    const pair = openPair({ script });
    test.onTestFinished(() => pair.end());
    const ended = await pair.runAll();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    expect(turnsOf(ended, 'plan')).toHaveLength(2);
  });

  it('shows them in a dry run, and writes nothing', async (test) => {
    const pair = openPair({});
    test.onTestFinished(() => pair.end());
    const shown = await pair.run(['run', 'objective.md', '--runtime', 'scripted', '--yes', '--dry-run']);
    expect(shown.code, shown.stderr).toBe(0);
    expect(shown.stdout).toContain('in repositories/api: the service that this client calls');
    expect(shown.stdout).toContain('cd repositories/api || exit 1; test ! -f broken.txt');
    for (const path of [pair.repository, pair.api]) expect(git(path, 'for-each-ref', 'refs/squad')).toBe('');
  });

  const one = (path: string, more: object = {}): Record<string, unknown> => ({ path, role: 'x', ...more });
  it.for<[string, (pair: Pair) => Record<string, unknown>, RegExp]>([
    ['a path that is no repository', () => ({ repositories: [one('../none')] }), /repositories: \.\.\/none cannot be/],
    [
      'the same twice',
      () => ({ repositories: [one('../api'), one('../api/.', { name: 'other' })] }),
      /\.\.\/api\/\. is a repository that is in the list already/,
    ],
    [
      'the same name twice',
      () => ({ repositories: [one('../api'), one('/x/api')] }),
      /second repository with the name/,
    ],
    ['this repository', () => ({ repositories: [one('.', { name: 'me' })] }), /\. is this repository itself/],
    [
      'uncommitted changes there',
      ({ api }) => {
        writeFileSync(join(api, 'api.md'), 'changed\n');
        return { repositories: [one('../api')] };
      },
      /\.\.\/api has uncommitted changes/,
    ],
    [
      'its place is taken',
      ({ repository }) => {
        mkdirSync(join(repository, 'repositories'));
        writeFileSync(join(repository, 'repositories', 'x'), '');
        git(repository, 'add', 'repositories');
        git(repository, 'commit', '-q', '-m', 'taken');
        return { repositories: [one('../api')] };
      },
      /has a repositories itself/,
    ],
    [
      'a playbook for one repository',
      () => ({ repositories: [one('../api')], playbook: 'council' }),
      /the playbook council works on one repository/,
    ],
    [
      'a followed pull request',
      () => ({ repositories: [one('../api')], publish: { pr: true, follow: true } }),
      /does not follow several pull requests/,
    ],
  ])('is refused before it exists: %s', async ([, change, why], test) => {
    const pair = openPair({});
    test.onTestFinished(() => pair.end());
    pair.settings(change(pair));
    pair.objective(objective());
    const ended = await pair.runAll([], pair.path);
    expect([65, 78]).toContain(ended.code);
    expect(ended.stderr).toMatch(why);
    expect(ended.stderr).toMatch(/^Next: /m);
    expect(git(pair.api, 'for-each-ref', 'refs/heads/squad', 'refs/squad')).toBe('');
  });
});

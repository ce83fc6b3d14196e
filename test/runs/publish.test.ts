import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { openRunBench, statusOf, type RunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';
import { ALL } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';

const FAKE_GH = fileURLToPath(new URL('../fixtures/forge/fake-gh.mjs', import.meta.url));
const SCRIPT = [
  plan([piece('a')]),
  author('a', commits({ 'a.txt': 'a\n' })),
  again('a', 'evidence', [{ run: ['true'] }, { answer: 'it is all there' }]),
  APPROVE_ALL,
];

/** A real bare repository stands for the remote, and a stand-in for GitHub's own program on PATH. */
function withRemote(publish: Record<string, unknown>): RunBench & { bare: string; path: Record<string, string> } {
  const bench = openRunBench({ script: SCRIPT, settings: { publish } });
  const { root, repository } = bench;
  const [bare, bin] = [join(root, 'bare.git'), join(root, 'bin')];
  git(root, 'init', '-q', '--bare', bare);
  git(repository, 'remote', 'add', 'origin', 'https://github.com/acme/app.git');
  git(repository, 'remote', 'set-url', '--push', 'origin', bare);
  git(repository, 'push', '-q', 'origin', 'main');
  mkdirSync(bin);
  symlinkSync(FAKE_GH, join(bin, 'gh'));
  writeFileSync(join(root, 'github.json'), JSON.stringify({ branches: bare, pulls: [] }));
  return { ...bench, bare, path: { PATH: `${bin}:${process.env['PATH']}` } };
}

describe.concurrent('publishing', { timeout: 300_000 }, () => {
  it('opens a pull request at the reviewed commit, and pushes the run branch at the end', ALL, async (test) => {
    const bench = withRemote({ remote: 'origin', pr: true });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll([], bench.path);
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    const remote = (branch: string): string => git(bench.bare, 'rev-parse', `refs/heads/${branch}`);
    const reviewed = ended.lines.find(({ type }) => type === 'review-round')?.['commit'];
    expect(remote('squad/make-things-a')).toBe(reviewed);
    expect(remote('squad/make-things')).toBe(git(bench.repository, 'rev-parse', 'squad/make-things'));
    const { pulls } = JSON.parse(readFileSync(join(bench.root, 'github.json'), 'utf8')) as {
      pulls: { head: string; base: string; state: string }[];
    };
    expect(pulls).toMatchObject([
      { head: 'squad/make-things-a', base: 'main', state: 'OPEN' },
      { head: 'squad/make-things', base: 'main', state: 'OPEN' },
    ]);
    expect(await bench.report()).toContain('https://github.com/acme/app/pull/2');
  });

  it('asks a person when the forge refuses in the middle, and opens it once that is mended', ALL, async (test) => {
    const bench = withRemote({ remote: 'origin', pr: true });
    test.onTestFinished(() => bench.end());
    const engine = bench.startRun([], bench.path);
    await engine.line(({ type }) => type === 'run-started');
    const github = join(bench.root, 'github.json');
    writeFileSync(github, JSON.stringify({ branches: bench.bare, pulls: [], mode: 'logged-out' }));
    const ended = await engine.finished;
    expect(ended.code, ended.stderr).toBe(3);
    expect((await bench.status()).waitingFor).toMatchObject({
      for: 'answer',
      questions: [{ id: 'engine/pull-request/a', text: expect.stringContaining('gh auth login') as string }],
    });
    writeFileSync(github, JSON.stringify({ branches: bench.bare, pulls: [] }));
    expect((await bench.run(['answer', 'try again'])).code).toBe(0);
    const resumed = await bench.run(['resume', '--json'], bench.path);
    expect(resumed.code, `${resumed.stderr}${JSON.stringify(resumed.lines.at(-1))}`).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
  });

  it.for([
    ['no such remote', { remote: 'upstream' }, /no remote named upstream/],
    ['no program to ask the forge with', { remote: 'origin', pr: true }, /`gh`, is not on PATH/],
  ] as const)('is refused before the run exists: %s', ALL, async ([, publish, why], test) => {
    const bench = withRemote(publish);
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll([], {});
    expect(ended.code, ended.stderr).toBe(78);
    expect(ended.stderr).toMatch(why);
    expect(ended.stderr).toMatch(/^Next: /m);
    expect(existsSync(stateOf(bench.repository))).toBe(false);
  });

  it('has failed where the remote refuses, with the reason, and the branch is kept here', ALL, async (test) => {
    const bench = withRemote({ remote: 'origin' });
    test.onTestFinished(() => bench.end());
    // Somebody else's work is at that branch already: nothing is forced.
    git(bench.repository, 'checkout', '-q', '-b', 'other');
    git(bench.repository, 'commit', '-q', '--allow-empty', '-m', 'theirs');
    git(bench.repository, 'push', '-q', 'origin', 'other:squad/make-things');
    git(bench.repository, 'checkout', '-q', 'main');
    const theirs = git(bench.bare, 'rev-parse', 'refs/heads/squad/make-things');
    const ended = await bench.runAll([], bench.path);
    expect(ended.code, ended.stderr).toBe(1);
    const last = ended.lines.at(-1);
    expect(last).toMatchObject({ outcome: 'failed', why: expect.stringMatching(/was not pushed to origin/) as string });
    expect(git(bench.bare, 'rev-parse', 'refs/heads/squad/make-things')).toBe(theirs);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
    expect(statusOf(await bench.status(), 'a')).toBe('done');
    expect((await bench.status()).outcome).toBe('failed');
    expect(await bench.report()).toContain('was not pushed');
  });
});

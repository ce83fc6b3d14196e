// @module-tag all
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRepository, git } from '../support/git.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

const BRANCH = 'squad/make-things';
const SERVICE = piece('service', { files: ['repositories/api/service.txt'] });
const SCRIPT = [
  plan([piece('client', { files: ['client.txt'] }), SERVICE]),
  author('client', commits({ 'client.txt': 'calls\n' })),
  author('service', commits({ 'repositories/api/service.txt': 'answers\n' })),
  APPROVE_ALL,
];

/** A client, and its service of which there is only a remote. */
function open() {
  const bench = openRunBench({ script: SCRIPT });
  const { root, repository } = bench;
  const seed = createRepository(join(root, 'seed'), { 'api.md': '# api\n' });
  const [own, api] = ['app.git', 'api.git'].map((name) => join(root, name)) as [string, string];
  for (const bare of [own, api]) git(root, 'init', '-q', '--bare', '--initial-branch=main', bare);
  git(seed, 'push', '-q', api, 'main');
  git(repository, 'push', '-q', own, 'main');
  git(repository, 'remote', 'add', 'origin', own);
  const repositories = [{ remote: `file://${api}`, role: 'the service', verify: [{ run: 'test -f api.md' }] }];
  bench.settings({ repositories, publish: { remote: 'origin' } });
  const state = (): string => join(stateOf(repository), 'clones');
  const onRemote = (path: string): void => {
    writeFileSync(join(seed, path), 'new\n');
    git(seed, 'add', '-A');
    git(seed, 'commit', '-qm', path);
    git(seed, 'push', '-q', api, 'main');
  };
  const branch = (bare: string, name = BRANCH): string =>
    git(bare, 'for-each-ref', '--format=%(objectname)', `refs/heads/${name}`);
  return { bench, api, own, state, onRemote, branch };
}

describe('a repository that is named by its remote', { timeout: 400_000 }, () => {
  it('is cloned once a person has agreed, fetched at the start of each run, and published', async (test) => {
    const { bench, api, own, onRemote, branch } = open();
    test.onTestFinished(() => bench.end());
    const looked = await bench.run(['run', 'objective.md', '--runtime', 'scripted', '--dry-run', '--yes']);
    expect([looked.code, looked.stderr]).toEqual([65, expect.stringContaining('a dry run asks no remote')]);
    const unasked = await bench.run(['run', 'objective.md', '--runtime', 'scripted']);
    expect(unasked.code).not.toBe(0);
    expect(unasked.stderr).toContain(`a clone, and which it fetches with your login`);
    expect(git(api, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    const ended = await bench.runAll();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    const [first, both] = [branch(api), branch(own)];
    expect(git(api, 'ls-tree', '-r', '--name-only', first).split('\n')).toEqual(['api.md', 'readme.md', 'service.txt']);
    expect(both).not.toBe('');
    const { repositories = [] } = await bench.status();
    expect(repositories).toMatchObject([{ name: '' }, { name: 'api', head: first }]);
    onRemote('later.txt');
    bench.rescript([
      plan([SERVICE]),
      author('service', commits({ 'repositories/api/service.txt': 'more\n' })),
      APPROVE_ALL,
    ]);
    const again = await bench.runAll(['--name', 'again']);
    expect(again.code, `${again.stderr}${JSON.stringify(again.lines.at(-1))}`).toBe(0);
    const files = git(api, 'ls-tree', '-r', '--name-only', branch(api, 'squad/again')).split('\n');
    expect(files).toEqual(['api.md', 'later.txt', 'readme.md', 'service.txt']);
    // Commits of its own are not lost.
    const clone = repositories[1]?.path ?? '';
    git(clone, '-c', 'user.name=x', '-c', 'user.email=x@x.invalid', 'commit', '-q', '--allow-empty', '-m', 'mine');
    onRemote('third.txt');
    const refused = await bench.runAll(['--name', 'third']);
    expect([refused.code, refused.stderr]).toEqual([
      78,
      expect.stringContaining('has commits that its remote does not have'),
    ]);
    expect(git(clone, 'log', '-1', '--format=%s')).toBe('mine');
  });

  it.each([
    [{ path: '../api', remote: 'https://example.org/a/api' }, 'either the path of a checkout or the `remote`'],
    [{}, 'repositories[0].path is missing'],
    [{ remote: 'ext::sh -c touch% /tmp/x' }, 'needs the URL of a repository'],
    [{ remote: '--upload-pack=x' }, 'needs the URL of a repository'],
    [{ remote: 'ssh://-oProxyCommand=x/y' }, 'needs the URL of a repository'],
    [{ remote: 'https://me:secret@example.org/a/api.git' }, 'has a password in it'],
    [{ remote: 'file:///nowhere/api.git' }, 'cannot be worked on: it could not be fetched'],
  ])('%j is refused by one sentence', async (repository, said) => {
    const { bench } = open();
    bench.settings({ repositories: [{ ...repository, role: 'x' }] });
    const refused = await bench.runAll();
    bench.end();
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(said);
    expect(refused.stderr).not.toContain('secret');
  });
});

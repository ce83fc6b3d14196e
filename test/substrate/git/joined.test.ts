import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { divide } from '../../../src/substrate/git/joined/divide.ts';
import { branchAt, keepJoined, placeBranch } from '../../../src/substrate/git/joined/give-branch.ts';
import { bringCommit, joinCommits, withJoined, type Part } from '../../../src/substrate/git/joined/joined.ts';
import { createRepository, git } from '../../support/git.ts';
import { portsIn, removeFolders, temporaryFolder } from './bench.ts';

afterEach(removeFolders);

interface Bench {
  readonly ports: ReturnType<typeof portsIn>;
  readonly home: string;
  readonly api: string;
  /** A checkout of the repository in which they are joined. */
  readonly work: string;
  readonly base: string;
  readonly parts: readonly [Part, Part];
}

function partOf(name: string, path: string): Part {
  return { name, commonDirectory: join(path, '.git'), commit: git(path, 'rev-parse', 'HEAD') };
}

/** Two repositories, joined in a clone of the first, where the tests make commits. */
async function open(files: Readonly<Record<string, string>> = { 'main.txt': 'one\n' }): Promise<Bench> {
  const root = temporaryFolder();
  const ports = portsIn(root);
  const home = createRepository(join(root, 'home'), files);
  const api = createRepository(join(root, 'api'), { 'serve.txt': 'one\n', 'deep/old name.txt ': 'é\n' });
  const parts = [partOf('', home), partOf('api', api)] as const;
  const base = await withJoined(ports, parts[0], [parts[1]], async (joined) => {
    const made = await joinCommits(joined, parts[0], [parts[1]]);
    await bringCommit(joined, made, parts[0].commonDirectory);
    return made;
  });
  const work = join(root, 'work');
  git(root, 'clone', '-q', home, work);
  git(work, 'fetch', '-q', home, base);
  git(work, 'checkout', '-q', '-B', 'work', base);
  return { ports, home, api, work, base, parts };
}

function commit({ work }: Bench, message: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(work, path, '..'), { recursive: true });
    writeFileSync(join(work, path), text);
  }
  git(work, 'add', '-A', '-f');
  git(work, 'commit', '-q', '--allow-empty', '-m', message);
  return git(work, 'rev-parse', 'HEAD');
}

/** Divides what HEAD of the work has, and brings it to both. */
async function divided(bench: Bench): Promise<{ home: string; api: string; stray: readonly string[] }> {
  const { ports, work, home, parts, base } = bench;
  const head = git(work, 'rev-parse', 'HEAD');
  git(home, 'fetch', '-q', work, head);
  return withJoined(ports, parts[0], [parts[1]], async (joined) => {
    const made = await divide(joined, { base, head }, parts[0], [parts[1]]);
    const [api = ''] = made.others;
    await bringCommit(joined, made.home, parts[0].commonDirectory);
    await bringCommit(joined, api, parts[1].commonDirectory);
    return { home: made.home, api, stray: made.stray };
  });
}

const log = (path: string, at: string): string[] => git(path, 'log', '--topo-order', '--format=%s', at).split('\n');

it('joins the same commits into the same one, with all files and none of the names changed', async () => {
  const bench = await open({ 'main.txt': 'one\n', 'odd “name”\t.txt': 'x\n' });
  const { ports, work, api, base, parts } = bench;
  const again = await withJoined(ports, parts[0], [parts[1]], async (joined) =>
    joinCommits(joined, parts[0], [parts[1]]),
  );
  expect(again).toBe(base);
  expect(git(work, 'rev-parse', `${base}:repositories/api`)).toBe(git(api, 'rev-parse', 'HEAD^{tree}'));
  const own = git(bench.home, 'ls-tree', '-r', 'HEAD').split('\n');
  expect(git(work, 'ls-tree', '-r', base).split('\n')).toEqual(expect.arrayContaining(own));
  expect(git(work, 'rev-parse', `${base}^`)).toBe(parts[0].commit);
  expect(git(api, 'for-each-ref').split('\n')).toHaveLength(1);
});

it('gives each repository its own commits, with their authors, dates and messages', async () => {
  const bench = await open();
  commit(bench, 'both', { 'main.txt': 'two\n', 'repositories/api/serve.txt': 'two\n' });
  commit(bench, 'here', { 'main.txt': 'three\n' });
  commit(bench, 'there\n\nwith a body\n', { 'repositories/api/deep/new.txt': 'new\n' });
  commit(bench, 'nothing at all', {});
  const made = await divided(bench);
  expect(made.stray).toEqual([]);
  expect(log(bench.home, made.home)).toEqual(['here', 'both', 'base']);
  expect(log(bench.api, made.api)).toEqual(['there', 'both', 'base']);
  expect(git(bench.home, 'ls-tree', '--name-only', made.home).split('\n')).not.toContain('repositories');
  expect(git(bench.api, 'show', `${made.api}:serve.txt`)).toBe('two');
  const facts = (path: string, at: string): string => git(path, 'log', '-1', '--format=%an %ae %at %cn %ct %B', at);
  expect(facts(bench.api, made.api)).toBe(facts(bench.work, 'HEAD~1'));
  expect(await divided(bench)).toEqual(made);
});

it('keeps each byte of a name and a message, whatever their encoding is', async () => {
  const bench = await open();
  const { work } = bench;
  const path = join(work, '..', 'message');
  writeFileSync(path, Buffer.from('grün\n\nund größer ÿ\n', 'latin1'));
  const run = (...args: string[]): Buffer => execFileSync('git', ['-C', work, ...args]);
  commit(bench, 'first', { 'repositories/api/serve.txt': 'two\n' });
  const latin = ['-c', 'i18n.commitEncoding=ISO-8859-1', '-c', 'user.name=Jörg', '-c', 'user.email=j@example.invalid'];
  run(...latin, 'commit', '-q', '--amend', '--reset-author', '--cleanup=verbatim', '-F', path);
  // One that says no encoding, as other programs make them.
  commit(bench, 'second', { 'repositories/api/serve.txt': 'three\n' });
  const raw = run('cat-file', 'commit', 'HEAD').toString('latin1');
  writeFileSync(path, Buffer.from(raw.replace('second', 'größer ÿ'), 'latin1'));
  run('reset', '-q', '--hard', git(work, 'hash-object', '-t', 'commit', '-w', '--no-filters', path));
  const made = await divided(bench);
  const rest = (at: string, id: string): string => {
    const text = execFileSync('git', ['-C', at, 'cat-file', 'commit', id]).toString('latin1');
    return text.replaceAll(/^(?:tree|parent) .*\n/gm, '');
  };
  expect(rest(work, 'HEAD~1')).toMatch(/\nencoding ISO-8859-1\n\ngrün\n/);
  expect(rest(work, 'HEAD')).toContain('größer ÿ');
  expect(rest(bench.api, made.api)).toBe(rest(work, 'HEAD'));
  expect(rest(bench.api, `${made.api}~1`)).toBe(rest(work, 'HEAD~1'));
});

it('keeps a merge where it brings lines of work together, and leaves it out elsewhere', async () => {
  const bench = await open();
  const { work, base } = bench;
  commit(bench, 'api one', { 'repositories/api/one.txt': '1\n' });
  git(work, 'checkout', '-q', '-b', 'side', base);
  commit(bench, 'api two', { 'repositories/api/two.txt': '2\n' });
  commit(bench, 'home two', { 'two.txt': '2\n' });
  git(work, 'checkout', '-q', 'work');
  git(work, 'merge', '-q', '--no-ff', '-m', 'bring together', 'side');
  const made = await divided(bench);
  expect(log(bench.home, made.home)).toEqual(['home two', 'base']);
  expect(log(bench.api, made.api).toSorted()).toEqual(['api one', 'api two', 'base', 'bring together']);
  expect(git(bench.api, 'ls-tree', '--name-only', made.api).split('\n')).toEqual(
    expect.arrayContaining(['one.txt', 'two.txt', 'serve.txt']),
  );
});

it('leaves a repository that no commit changes where it was', async () => {
  const bench = await open();
  commit(bench, 'here', { 'main.txt': 'two\n' });
  expect((await divided(bench)).api).toBe(bench.parts[1].commit);
});

it('names what is in none of the repositories', async () => {
  const bench = await open();
  commit(bench, 'lost', { 'repositories/web/index.html': 'x\n', 'repositories/notes.md': 'x\n' });
  expect((await divided(bench)).stray).toEqual(['repositories/notes.md', 'repositories/web']);
});

it('names a file in the place of the others, which would be lost', async () => {
  const bench = await open();
  git(bench.work, 'rm', '-rq', 'repositories');
  commit(bench, 'replaced', { repositories: 'x\n' });
  expect((await divided(bench)).stray).toEqual(['repositories']);
});

it('makes a branch once, and leaves one that someone else has made', async () => {
  const { ports, api, parts } = await open();
  const [, { commonDirectory, commit: first }] = parts;
  const order = { run: 'make-things', commit: first, from: undefined };
  expect(await placeBranch(ports, commonDirectory, order)).toEqual({ type: 'placed' });
  expect(await placeBranch(ports, commonDirectory, order)).toEqual({ type: 'placed' });
  git(api, 'commit', '-q', '--allow-empty', '-m', 'theirs');
  const theirs = git(api, 'rev-parse', 'HEAD');
  git(api, 'branch', '-f', 'squad/make-things', theirs);
  expect(await placeBranch(ports, commonDirectory, order)).toEqual({ type: 'taken', head: theirs });
  expect(await branchAt(ports, commonDirectory, 'make-things')).toBe(theirs);
  await keepJoined(ports, commonDirectory, 'make-things', first);
  expect(git(api, 'rev-parse', `refs/squad/make-things/joined.${first}`)).toBe(first);
});

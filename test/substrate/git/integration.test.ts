import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { excerptOf, parseMergeTree } from '../../../src/substrate/git/integration.ts';
import { decideEscapes } from '../../../src/substrate/git/symbolic-links.ts';
import { git } from '../../support/git.ts';
import { keptIn, keptRefs, findFaults, fingerprint, openBench, removeFolders } from './bench.ts';
import { ALL } from '../../support/lane.ts';

afterEach(removeFolders);

const LINES = Array.from({ length: 30 }, (_, n) => `line ${n}\n`);
const withLine = (n: number, text: string): string => LINES.with(n, `${text}\n`).join('');

/** A repository with a run branch, and `deliver`, which does what the graph will do with a reviewed commit. */
async function openRun(files: Readonly<Record<string, string>> = { 'a.txt': LINES.join('') }) {
  const bench = await openBench(files);
  const { workspaces, report } = bench;
  expect(await workspaces.createRunBranch('run', report.head)).toEqual({ type: 'ready' });
  const integrate = async (commit: string) => workspaces.integrate({ run: 'run', commit, message: 'Deliver' });
  const deliver = async (commit: string): Promise<string> => {
    const answer = await integrate(commit);
    if (answer.type !== 'candidate') throw new Error(JSON.stringify(answer));
    expect(await workspaces.advance('run', answer.onto, answer.commit)).toEqual({ type: 'advanced' });
    return answer.commit;
  };
  const work = async (task: string, changes: Readonly<Record<string, string>>, from = report.head): Promise<string> =>
    keptIn(workspaces, await workspaces.addFolder({ run: 'run', task, commit: from }), changes, task);
  return { ...bench, integrate, deliver, work };
}

describe('integrate', () => {
  it('takes work that is ahead as it is, and merges what is beside', async () => {
    const run = await openRun();
    const before = fingerprint(run.repository);
    const one = await run.work('one', { 'one.txt': 'one\n' });
    const two = await run.work('two', { 'two.txt': 'two\n', 'a.txt': withLine(3, 'two') });
    expect(await run.deliver(one)).toBe(one);
    const answer = await run.integrate(two);
    if (answer.type !== 'candidate') throw new Error(answer.type);
    // Not delivered yet: the branch stands, and what is to be verified can be checked out.
    expect(await run.workspaces.runHead('run')).toBe(one);
    const { path } = (await run.workspaces.integrationAt('run', answer.commit)).workspace;
    expect(readFileSync(join(path, 'one.txt'), 'utf8')).toBe('one\n');
    expect(readFileSync(join(path, 'two.txt'), 'utf8')).toBe('two\n');
    expect(git(path, 'rev-parse', 'HEAD')).toBe(answer.commit);
    expect(git(path, 'status', '--porcelain')).toBe('');
    expect(git(path, 'log', '-1', '--format=%P %an <%ae> %s', answer.commit)).toBe(
      `${one} ${two} squad <squad@squad.invalid> Deliver`,
    );
    expect(await run.workspaces.advance('run', answer.onto, answer.commit)).toEqual({ type: 'advanced' });
    expect(await run.workspaces.advance('run', answer.onto, answer.commit)).toEqual({ type: 'advanced' });
    expect(fingerprint(run.repository)).toEqual(before);
    expect(findFaults(run)).toEqual([]);
  });

  it('a diamond’s last task has the code of all before it', ALL, async () => {
    const run = await openRun();
    const top = await run.deliver(await run.work('top', { 'top.txt': 'top\n' }));
    const left = await run.work('left', { 'left.txt': 'left\n' }, top);
    const right = await run.work('right', { 'right.txt': 'right\n' }, top);
    await run.deliver(left);
    const head = await run.deliver(right);
    const last = await run.deliver(await run.work('last', { 'last.txt': 'last\n' }, head));
    expect(git(run.repository, 'ls-tree', '--name-only', last)).toBe(
      'a.txt\nlast.txt\nleft.txt\nreadme.md\nright.txt\ntop.txt',
    );
    for (const commit of [top, left, right]) expect(await run.workspaces.isAncestor(commit, last)).toBe(true);
    expect(findFaults(run)).toEqual([]);
  });

  it(
    'answers two changes of one line with the files and their markers, and leaves nothing half merged',
    ALL,
    async () => {
      const run = await openRun();
      const before = fingerprint(run.repository);
      const one = await run.work('one', { 'a.txt': withLine(5, 'ONE'), 'b.txt': 'b\n' });
      const two = await run.work('two', { 'a.txt': withLine(5, 'TWO') });
      await run.deliver(one);
      const answer = await run.integrate(two);
      expect(answer).toMatchObject({ type: 'conflict', onto: one, messages: [expect.stringContaining('a.txt')] });
      if (answer.type !== 'conflict') throw new Error(answer.type);
      expect(answer.files).toEqual([
        { path: 'a.txt', excerpt: `line 6:\n<<<<<<< ${one}\nONE\n=======\nTWO\n>>>>>>> ${two}` },
      ]);
      expect(await run.workspaces.runHead('run')).toBe(one);
      // The author rebases on what is there, and is delivered.
      const folder = await run.workspaces.addFolder({ run: 'run', task: 'two', commit: two });
      git(folder.workspace.path, 'reset', '-q', '--hard', one);
      const again = await keptIn(run.workspaces, folder, { 'a.txt': withLine(5, 'ONE and TWO') });
      expect(await run.deliver(again)).toBe(again);
      expect(fingerprint(run.repository)).toEqual(before);
      expect(findFaults(run)).toEqual([]);
    },
  );

  it.each<[string, (run: Awaited<ReturnType<typeof openRun>>) => Promise<readonly [string, string]>]>([
    [
      'deleted on one side',
      async (run) => {
        const folder = await run.workspaces.addFolder({ run: 'run', task: 'one', commit: run.report.head });
        rmSync(join(folder.workspace.path, 'a.txt'));
        return [await keptIn(run.workspaces, folder, {}), await run.work('two', { 'a.txt': withLine(1, 'x') })];
      },
    ],
    ['a binary file', async (run) => [await run.work('one', { bin: 'a\0b' }), await run.work('two', { bin: 'a\0c' })]],
    [
      'a file and a folder of one name',
      async (run) => [await run.work('one', { x: 'file\n' }), await run.work('two', { 'x/y': 'folder\n' })],
    ],
  ])('conflict: %s', ALL, async (_, make) => {
    const run = await openRun();
    const [one, two] = await make(run);
    await run.deliver(one);
    const answer = await run.integrate(two);
    if (answer.type !== 'conflict') throw new Error(answer.type);
    expect(answer.files.length).toBeGreaterThan(0);
    expect(answer.messages.join('\n')).toMatch(/CONFLICT/);
  });

  it('knows work that adds nothing', ALL, async () => {
    const run = await openRun();
    const one = await run.work('one', { 'a.txt': withLine(5, 'same') });
    const twin = await run.work('twin', { 'a.txt': withLine(5, 'same') });
    const nothing = await run.work('nothing', {});
    await run.deliver(one);
    for (const commit of [one, twin, nothing, run.report.head]) {
      expect(await run.integrate(commit)).toEqual({ type: 'empty', onto: one });
    }
    expect(await run.workspaces.changedFiles(run.report.head, nothing)).toEqual([]);
  });

  it('refuses where somebody deleted the run branch', async () => {
    const run = await openRun();
    const commit = await run.work('one', { 'one.txt': 'one\n' });
    git(run.repository, 'update-ref', '-d', 'refs/heads/squad/run');
    expect(await run.integrate(commit)).toEqual({ type: 'refused', reason: 'gone' });
  });

  it('refuses a history of its own', async () => {
    const run = await openRun();
    const folder = await run.workspaces.addFolder({ run: 'run', task: 'one', commit: run.report.head });
    git(folder.workspace.path, 'checkout', '-q', '--orphan', 'lonely');
    const commit = await keptIn(run.workspaces, folder, { 'x.txt': 'x\n' });
    expect(await run.integrate(commit)).toEqual({ type: 'refused', reason: 'unrelated-history' });
    // A branch of its own is its own business.
    expect(await run.workspaces.snapshot(folder)).toMatchObject({ head: commit, clean: true });
  });

  it('refuses links that leave the tree, but not those that were there before (S3)', ALL, async () => {
    const run = await openRun({ 'src/a.txt': 'a\n' });
    const folder = await run.workspaces.addFolder({ run: 'run', task: 'one', commit: run.report.head });
    const link = (target: string, path: string) => symlinkSync(target, join(folder.workspace.path, path));
    link('src/a.txt', 'good');
    link('..', 'src/up');
    const good = await keptIn(run.workspaces, folder, {});
    expect(await run.deliver(good)).toBe(good);
    link('/etc/passwd', 'absolute');
    link('../../outside', 'src/out');
    link('src/up/..', 'twice');
    link('.git/config', 'config');
    const bad = await keptIn(run.workspaces, folder, {});
    const answer = await run.integrate(bad);
    if (answer.type !== 'refused' || answer.reason !== 'escaping-links') throw new Error(JSON.stringify(answer));
    expect(answer.links.map(({ path }) => path)).toEqual(['absolute', 'config', 'src/out', 'twice']);
  });

  it('clears its folder when a verify command has spoiled it, and makes it anew when that fails', ALL, async () => {
    const run = await openRun();
    const before = fingerprint(run.repository);
    const one = await run.integrate(await run.work('one', { 'one.txt': 'one\n' }));
    if (one.type !== 'candidate') throw new Error(one.type);
    const { path } = (await run.workspaces.integrationAt('run', one.commit)).workspace;
    writeFileSync(join(path, '.git/HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(path, 'left-behind.txt'), 'x\n');
    const two = await run.integrate(await run.work('two', { 'two.txt': 'two\n' }));
    if (two.type !== 'candidate') throw new Error(two.type);
    expect(await run.workspaces.integrationAt('run', two.commit)).not.toHaveProperty('remade');
    expect(existsSync(join(path, 'left-behind.txt'))).toBe(false);
    expect(git(path, 'status', '--porcelain')).toBe('');
    // Instead of the folder a link: what `setup` made is gone, and the number says so.
    rmSync(path, { recursive: true });
    symlinkSync(run.repository, path);
    expect(await run.workspaces.integrationAt('run', two.commit)).toMatchObject({ remade: 1 });
    expect(git(path, 'status', '--porcelain')).toBe('');
    expect(fingerprint(run.repository)).toEqual(before);
  });

  it('checks the newer of two candidates also where the folder of the older one was deleted', ALL, async () => {
    const { workspaces, work, integrate, repository } = await openRun();
    const [one, two] = [await work('one', { 'one.txt': 'one\n' }), await work('two', { 'one.txt': 'two\n' })];
    const [older, newer] = [await integrate(one), await integrate(two)];
    if (older.type !== 'candidate' || newer.type !== 'candidate') throw new Error(`${older.type} ${newer.type}`);
    rmSync((await workspaces.integrationAt('run', older.commit)).workspace.path, { recursive: true });
    const folder = await workspaces.integrationAt('run', newer.commit);
    expect(folder.base).toBe(newer.commit);
    await workspaces.noteMade(folder);
    expect(await workspaces.bringBack(folder, [], 'go')).toEqual({ changed: [], more: 0, isWhole: true });
    const { path } = folder.workspace;
    expect(readFileSync(join(path, 'one.txt'), 'utf8')).toBe(git(repository, 'show', `${newer.commit}:one.txt`) + '\n');
  });

  it('fills its folder for one caller after the other', ALL, async () => {
    const run = await openRun();
    const commits = [await run.work('one', { 'one.txt': '1\n' }), await run.work('two', { 'two.txt': '2\n' })];
    const asked = Array.from({ length: 12 }, async (_, at) => {
      const commit = commits[at % 2] ?? '';
      return (await run.workspaces.integrationAt('run', commit)).base === commit;
    });
    expect(await Promise.all(asked)).toEqual(asked.map(() => true));
  });

  it('honours the merge attributes of the repository', async () => {
    const run = await openRun({ '.gitattributes': 'list.txt merge=union\n', 'list.txt': 'a\n' });
    await run.deliver(await run.work('one', { 'list.txt': 'a\none\n' }));
    const head = await run.deliver(await run.work('two', { 'list.txt': 'a\ntwo\n' }));
    expect(git(run.repository, 'show', `${head}:list.txt`)).toBe('a\none\ntwo');
  });
});

describe('the run branch', () => {
  it('moves only from where the caller saw it', async () => {
    const run = await openRun();
    const { head } = run.report;
    const [one, two] = [await run.work('one', { 'one.txt': '1\n' }), await run.work('two', { 'two.txt': '2\n' })];
    const asked = [one, two].map(async (to) => run.workspaces.advance('run', head, to));
    // Either may be the first.
    const answers = await Promise.all(asked);
    const now = await run.workspaces.runHead('run');
    expect([one, two]).toContain(now);
    expect(answers).toEqual([one, two].map((to) => (to === now ? { type: 'advanced' } : { type: 'moved', head: now })));
    git(run.repository, 'branch', '-D', 'squad/run');
    expect(await run.workspaces.advance('run', one, two)).toEqual({ type: 'moved', head: undefined });
    expect(await run.workspaces.runHead('run')).toBeUndefined();
  });

  it('is made once, and not over another one', async () => {
    const run = await openRun();
    expect(await run.workspaces.createRunBranch('run', run.report.head)).toEqual({ type: 'ready' });
    const one = await run.work('one', { 'one.txt': '1\n' });
    expect(await run.workspaces.createRunBranch('run', one)).toEqual({ type: 'taken', head: run.report.head });
    await run.workspaces.keepAttempt('run', 'one-1', one);
    expect(keptRefs(run)).toBe('refs/squad/run/one-1');
    await run.integrate(one);
    await run.workspaces.closeRun('run');
    await run.workspaces.closeRun('run');
    expect(findFaults(run)).toEqual([]);
  });
});

describe('evidence', () => {
  it('says the lines of each change, with renames and binary files', async () => {
    const text = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join('');
    const run = await openRun({ 'a b/old\tname': text, 'gone.txt': 'a\nb\n', 'x.bin': 'a\0b' });
    const files = { 'new.txt': `${text}more\n`, 'x.bin': 'a\0c', 'added.txt': 'one\ntwo\n' };
    const { workspaces, report } = run;
    const folder = await workspaces.addFolder({ run: 'run', task: 'one', commit: report.head });
    for (const name of ['a b/old\tname', 'gone.txt']) rmSync(join(folder.workspace.path, name));
    const one = await keptIn(workspaces, folder, files, 'one');
    const changes = await workspaces.changedLines(report.head, one);
    expect(changes.map(({ object, ...change }) => ({ ...change, isThere: object !== null }))).toEqual([
      { path: 'added.txt', status: 'added', added: 2, removed: 0, isThere: true },
      { path: 'gone.txt', status: 'deleted', added: 0, removed: 2, isThere: false },
      { path: 'a b/old\tname', status: 'renamed', to: 'new.txt', added: 1, removed: 0, isThere: true },
      { path: 'x.bin', status: 'modified', added: null, removed: null, isThere: true },
    ]);
    expect(await workspaces.changedLines(one, one)).toEqual([]);
  });

  it('says what is between two commits', async () => {
    const run = await openRun({ '-x.txt': 'x\n', 'a b/ü.txt': 'u\n' });
    const one = await run.work('one', { 'src/one.txt': 'one\n', '-x.txt': 'y\n' });
    const { workspaces, report } = run;
    expect(await workspaces.commitsBetween(report.head, one)).toEqual([{ commit: one, subject: 'one' }]);
    expect(await workspaces.commitsBetween(one, report.head)).toEqual([]);
    // As git prints it: the first line begins where the others do.
    expect(await workspaces.diffStat(report.head, one)).toMatch(/^ \S[^]*\n \S[^]*\n 2 files changed/);
    expect(await workspaces.changedFiles(report.head, one)).toEqual([
      { path: '-x.txt', status: 'modified' },
      { path: 'src/one.txt', status: 'added' },
    ]);
    const files = [
      'src/one.txt',
      '-x.txt',
      'a b/ü.txt',
      'src',
      'gone',
      '../readme.md',
      './readme.md',
      '/readme.md',
      '',
    ];
    const found = await Promise.all(files.map(async (path) => workspaces.isFileAt(one, path)));
    expect(found).toEqual([true, true, true, false, false, false, false, false, false]);
    expect(await workspaces.isFileAt(one, '*.txt')).toBe(false);
    const read = await Promise.all(files.map(async (path) => workspaces.readFileAt(one, path, 100)));
    const texts = read.map((content) => (typeof content === 'string' ? content : Buffer.from(content).toString()));
    expect(texts).toEqual(['one\n', 'y\n', 'u\n', 'not-a-file', ...files.slice(4).map(() => 'absent')]);
    expect(await workspaces.isAncestor(one, report.head)).toBe(false);
  });
});

describe('the content of a file in a commit', () => {
  it('is its bytes, as long as it is a file and not too large', ALL, async () => {
    const bytes = Uint8Array.from([0, 0xff, 0x0a, 0x80, 0x0a]);
    const { workspaces, report } = await openBench({ 'folder/a.txt': 'a' }, (repository) => {
      writeFileSync(join(repository, 'binary'), bytes);
      writeFileSync(join(repository, 'empty'), '');
      writeFileSync(join(repository, 'large'), Buffer.alloc(3 * 1024 * 1024, 'x'));
      symlinkSync('folder/a.txt', join(repository, 'link'));
      symlinkSync('/etc/passwd', join(repository, 'out'));
      git(repository, 'add', '-A');
      const head = git(repository, 'rev-parse', 'HEAD');
      git(repository, 'update-index', '--add', '--cacheinfo', `160000,${head},module`);
      git(repository, 'commit', '-q', '-m', 'odd files');
    });
    const read = async (path: string, most: number) => workspaces.readFileAt(report.head, path, most);
    expect(Buffer.from((await read('binary', 5)) as Uint8Array)).toEqual(Buffer.from(bytes));
    expect(await read('binary', 4)).toBe('too-large');
    expect(await read('empty', 0)).toHaveLength(0);
    expect(await read('large', 1024 * 1024)).toBe('too-large');
    expect(await read('large', 3 * 1024 * 1024)).toHaveLength(3 * 1024 * 1024);
    for (const path of ['link', 'out', 'module', 'folder']) expect(await read(path, 100), path).toBe('not-a-file');
    for (const path of ['gone', 'link/a', 'folder/', 'a\nb', '../a', 'x'.repeat(200_000)])
      expect(await read(path, 100), path).toBe('absent');
    // Commits are read over the same conversation.
    expect(await workspaces.createRunBranch('run', report.head)).toEqual({ type: 'ready' });
    expect(await read('binary', 5)).toHaveLength(5);
  });
});

describe('pure parts', () => {
  it('follows links as the system would', () => {
    const links = (entries: Record<string, string>) =>
      decideEscapes(new Map(Object.entries(entries))).map(({ path }) => path);
    expect(links({ a: 'b', b: 'a', 'c/d': '../e', f: 'c/./d', g: 'x/../y' })).toEqual([]);
    expect(links({ a: '..', b: 'c/../../x', c: '/x', d: 'a', e: '.GIT/hooks', 'x/f': '../../y' })).toEqual([
      ...['a', 'b', 'c', 'd', 'e', 'x/f'],
    ]);
    // Inside by its letters, outside by where `d/e` leads.
    expect(links({ 'd/e': '..', x: 'd/e/../secret' })).toEqual(['x']);
  });

  it('reads what merge-tree says', () => {
    expect(parseMergeTree('1234\0')).toEqual({ tree: '1234', paths: [], messages: [] });
    const text =
      'abc\0a\0b c\0\x001\0a\0Auto-merging\0Auto-merging a\n\x002\0a\0b c\0CONFLICT (contents)\0CONFLICT: a\n\0';
    expect(parseMergeTree(text)).toEqual({ tree: 'abc', paths: ['a', 'b c'], messages: ['CONFLICT: a'] });
  });

  it('shows conflicting lines only, and not without end', () => {
    expect(excerptOf('a\n<<<<<<< x\n1\n=======\n2\n>>>>>>> y\nb\n')).toBe(
      'line 2:\n<<<<<<< x\n1\n=======\n2\n>>>>>>> y',
    );
    expect(excerptOf('plain\n')).toBe('');
    expect(excerptOf(`<<<<<<< x\n${'long line\n'.repeat(5000)}`).length).toBeLessThan(4100);
  });
});

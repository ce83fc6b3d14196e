import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { conePatterns, parseCone } from '../../../src/text/cone.ts';
import { createGitWorkspaces } from '../../../src/substrate/git/git-workspaces.ts';
import type { TaskFolder, Workspaces } from '../../../src/substrate/ports/workspaces.ts';
import { createRepository, git } from '../../support/git.ts';
import { benchOver, commitIn, removeFolders, temporaryFolder, type GitBench } from './bench.ts';
import { ALL } from '../../support/lane.ts';

afterEach(removeFolders);

const FILES = {
  'root.txt': 'root\n',
  'packages/beside.txt': 'beside\n',
  'packages/web/a.ts': 'a\n',
  'packages/web/deep/b.ts': 'b\n',
  'packages/api/c.ts': 'c\n',
  'packages/api/deep/d.ts': 'd\n',
  'docs/e.md': 'e\n',
};
const WEB = ['packages/web/a.ts', 'packages/web/deep/b.ts'];
const IN_CONE = ['packages/beside.txt', ...WEB, 'readme.md', 'root.txt'];

interface Sparse extends GitBench {
  folder(task: string, commit?: string): Promise<TaskFolder>;
  open(sparse: readonly string[] | undefined, spares?: object): Workspaces;
}

async function openSparse(sparse: readonly string[] | undefined = ['packages/web'], own?: string): Promise<Sparse> {
  const root = temporaryFolder();
  const repository = createRepository(join(root, 'repository'), FILES);
  if (own !== undefined) git(repository, 'sparse-checkout', 'set', own);
  const bench = await benchOver(root, repository);
  const open: Sparse['open'] = (folders, spares = {}) =>
    createGitWorkspaces({ ...bench.ports, sparse: folders, spares }, bench.report);
  const workspaces = open(sparse);
  await workspaces.createRunBranch('run', bench.report.head);
  const folder: Sparse['folder'] = async (task, commit = bench.report.head) =>
    workspaces.addFolder({ run: 'run', task, commit });
  return { ...bench, workspaces, folder, open };
}

function filesIn(path: string): readonly string[] {
  const found = readdirSync(path, { recursive: true, withFileTypes: true });
  const files = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name).slice(path.length + 1));
  return files.filter((name) => !name.startsWith('.git/')).toSorted();
}

/** What the work in a folder is, against its base. */
async function workIn({ workspaces, repository, report }: Sparse, folder: TaskFolder): Promise<string> {
  const kept = await workspaces.rescue(folder, `${folder.task}-1`);
  if (kept.type !== 'kept') throw new Error(JSON.stringify(kept));
  return git(repository, 'diff', '--name-status', '--no-renames', report.head, kept.commit);
}

/** A commit of a colleague on top of the base, with changed, new and deleted files outside of the cone. */
function furtherIn({ repository, report }: Sparse): string {
  const place = join(repository, '..', 'colleague');
  git(repository, 'worktree', 'add', '-q', '--detach', place, report.head);
  if (existsSync(join(repository, '.git/info/sparse-checkout'))) git(place, 'sparse-checkout', 'disable');
  writeFileSync(join(place, 'packages/api/c.ts'), 'changed\n');
  writeFileSync(join(place, 'packages/api/new.ts'), 'new\n');
  writeFileSync(join(place, 'packages/web/new.ts'), 'new\n');
  rmSync(join(place, 'docs/e.md'));
  git(place, 'add', '-A');
  git(place, 'commit', '-q', '-m', 'further');
  const commit = git(place, 'rev-parse', 'HEAD');
  git(repository, 'worktree', 'remove', '--force', place);
  return commit;
}

describe('folders of tasks with `sparse`', () => {
  it('have the files of its folders, and those beside and above; git in them agrees', async () => {
    const bench = await openSparse();
    const { workspace } = await bench.folder('one');
    expect(filesIn(workspace.path)).toEqual(IN_CONE);
    expect(git(workspace.path, 'status', '--porcelain')).toBe('');
    expect(git(workspace.path, 'sparse-checkout', 'list')).toBe('packages/web');
    expect(await workIn(bench, await bench.folder('one'))).toBe('');
  });

  it('leave submodules and large files as they are, inside and outside', async () => {
    const bench = await openSparse();
    const { repository } = bench;
    const library = createRepository(join(repository, '..', 'library'), { 'lib.txt': 'lib\n' });
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n`;
    for (const place of ['packages/web', 'packages/api']) {
      git(repository, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library, `${place}/lib`);
      writeFileSync(join(repository, place, 'large.bin'), pointer);
    }
    writeFileSync(join(repository, '.gitattributes'), '*.bin filter=lfs diff=lfs merge=lfs -text\n');
    git(repository, 'add', '-A');
    git(repository, 'commit', '-q', '-m', 'submodules and large files');
    const head = git(repository, 'rev-parse', 'HEAD');
    const folder = await bench.folder('one', head);
    const { path } = folder.workspace;
    expect(filesIn(path)).toEqual(['.gitattributes', '.gitmodules', ...IN_CONE, 'packages/web/large.bin'].toSorted());
    expect(readFileSync(join(path, 'packages/web/large.bin'), 'utf8')).toBe(pointer);
    writeIn(path, 'packages/web/new.ts');
    const kept = await bench.workspaces.rescue(folder, 'one-1');
    if (kept.type !== 'kept') throw new Error(JSON.stringify(kept));
    expect(git(repository, 'diff', '--name-status', head, kept.commit)).toBe('A\tpackages/web/new.ts');
  });

  it.each<readonly [string, (path: string, bench: Sparse) => void, string]>([
    ['a new file', (path) => writeIn(path, 'packages/api/x.ts'), 'A\tpackages/api/x.ts'],
    ['a new folder', (path) => writeIn(path, 'elsewhere/x.ts'), 'A\telsewhere/x.ts'],
    ['a file that it does not have', (path) => writeIn(path, 'packages/api/c.ts'), 'M\tpackages/api/c.ts'],
    ['more of the tree', (path) => void git(path, 'sparse-checkout', 'add', 'packages/api'), ''],
    [
      'more of the tree, and a change there',
      (path) => {
        git(path, 'sparse-checkout', 'add', 'packages/api');
        writeIn(path, 'packages/api/c.ts');
        rmSync(join(path, 'packages/api/deep/d.ts'));
        git(path, 'add', '-A');
        git(path, 'commit', '-q', '-m', 'api');
      },
      'M\tpackages/api/c.ts\nD\tpackages/api/deep/d.ts',
    ],
    ['a file of the cone, deleted', (path) => rmSync(join(path, 'packages/web/a.ts')), 'D\tpackages/web/a.ts'],
    [
      'a commit of a colleague',
      (path, bench) => void git(path, 'merge', '-q', '--ff-only', furtherIn(bench)),
      'D\tdocs/e.md\nM\tpackages/api/c.ts\nA\tpackages/api/new.ts\nA\tpackages/web/new.ts',
    ],
  ])('show what an agent does outside of the cone: %s', async (_about, act, expected) => {
    const bench = await openSparse();
    const folder = await bench.folder('one');
    act(folder.workspace.path, bench);
    expect(await workIn(bench, folder)).toBe(expected);
    expect((await bench.workspaces.removeFolder(folder, 'one-1')).type).toBe('removed');
  });

  it.each(['packages/web', undefined])('lose no file of a commit when they come to it (%s)', async (sparse) => {
    const bench = await openSparse(
      sparse === undefined ? undefined : [sparse],
      sparse === undefined ? 'packages/web' : undefined,
    );
    const folder = await bench.folder('one');
    writeIn(folder.workspace.path, 'packages/api/c.ts');
    const further = furtherIn(bench);
    const moved = await bench.workspaces.moveFolder(folder, further, 'one-1');
    if ('type' in moved) throw new Error(JSON.stringify(moved));
    const { path } = moved.workspace;
    expect(filesIn(path)).toEqual([...IN_CONE, 'packages/web/new.ts'].toSorted());
    expect(git(path, 'status', '--porcelain')).toBe('');
    expect(git(bench.repository, 'show', 'refs/squad/run/one-1:packages/api/c.ts')).toBe('x');
    expect(await bench.workspaces.snapshot(moved)).toMatchObject({ head: further, clean: true });
    const other = await bench.folder('two');
    await bench.workspaces.standOn(other, further, 'follows');
    expect(git(other.workspace.path, 'status', '--porcelain')).toBe('D packages/web/new.ts');
    expect(await workIn(bench, other)).toBe('D\tdocs/e.md\nM\tpackages/api/c.ts\nA\tpackages/api/new.ts');
  });

  it('are read rightly without an index of the engine’s, and by a command that knows no settings', async () => {
    const bench = await openSparse();
    const folder = await bench.folder('one');
    commitIn(folder, { 'packages/web/a.ts': 'mine\n' });
    rmSync(join(bench.stateDirectory, 'work/run/.squad/one.index'));
    const later = bench.open(undefined);
    expect(await later.removeFolder(folder, 'one-1')).toMatchObject({ type: 'removed', rescued: false });
    const kept = git(bench.repository, 'diff', '--name-status', bench.report.head, 'refs/squad/run/one-1');
    expect(kept).toBe('M\tpackages/web/a.ts');
  });

  it('are beside folders for checks that have the whole tree', async () => {
    const bench = await openSparse();
    const { workspaces, report } = bench;
    const all = [...Object.keys(FILES), 'readme.md'].toSorted();
    const base = await workspaces.baselineAt('run', report.head);
    expect(filesIn(base.workspace.path)).toEqual(all);
    const further = furtherIn(bench);
    const candidate = await workspaces.integrationAt('run', further);
    expect(filesIn(candidate.workspace.path)).toContain('packages/api/new.ts');
    expect(git(candidate.workspace.path, 'status', '--porcelain')).toBe('');
    await workspaces.noteMade(candidate);
    rmSync(join(candidate.workspace.path, 'packages/api/c.ts'));
    expect(await workspaces.bringBack(candidate, [], 'go')).toMatchObject({
      changed: ['packages/api/c.ts'],
      isWhole: true,
    });
    expect(existsSync(join(candidate.workspace.path, 'packages/api/c.ts'))).toBe(true);
  });

  it('are made of spare ones with the same folders, and of no others', ALL, async () => {
    const bench = await openSparse();
    const spares = { most: 1, from: 5, freeBytes: 0 };
    const tidy = async (workspaces: Workspaces): Promise<void> => {
      while (await workspaces.tidySpares(bench.report.head)) continue;
    };
    const pool = (): readonly string[] =>
      readdirSync(join(bench.stateDirectory, 'work/.spare')).flatMap((name) => name.split('.')[1] ?? []);
    const web = bench.open(['packages/web'], spares);
    await tidy(web);
    expect(pool()).toEqual(['ready']);
    const one = await web.addFolder({ run: 'run', task: 'one', commit: bench.report.head });
    expect(pool()).toEqual([]);
    expect(filesIn(one.workspace.path)).toEqual(IN_CONE);
    await web.removeFolder(one, 'one-1');
    const after = bench.open(undefined, { ...spares, most: 'as-before' });
    while (await after.tidySpares()) continue;
    expect(pool()).toEqual(['ready']);
    const api = bench.open(['packages/api'], spares);
    const two = await api.addFolder({ run: 'other', task: 'two', commit: bench.report.head });
    expect(filesIn(two.workspace.path)).toEqual([
      'packages/api/c.ts',
      'packages/api/deep/d.ts',
      'packages/beside.txt',
      'readme.md',
      'root.txt',
    ]);
    const all = bench.open(undefined, spares);
    await tidy(all);
    const three = await all.addFolder({ run: 'third', task: 'three', commit: bench.report.head });
    expect(filesIn(three.workspace.path)).toEqual([...Object.keys(FILES), 'readme.md'].toSorted());
  });
});

function writeIn(path: string, name: string): void {
  mkdirSync(join(path, name, '..'), { recursive: true });
  writeFileSync(join(path, name), 'x\n');
}

describe('the patterns of a cone', () => {
  it.each([[['a']], [['a/b', 'c']], [['a/b', 'a/b/c', 'a/d/e']], [['app/[slug]', 'x*y/z?', 'ü/\\q']]])(
    '%j: as git writes them',
    (folders) => {
      const root = temporaryFolder();
      const repository = createRepository(
        join(root, 'repository'),
        Object.fromEntries(folders.map((one) => [`${one}/f/g`, 'x'])),
      );
      git(repository, 'sparse-checkout', 'set', '--cone', '--skip-checks', ...folders);
      const patterns = conePatterns(folders);
      const written = readFileSync(join(repository, '.git/info/sparse-checkout'), 'utf8');
      expect(patterns.split('\n').slice(1).toSorted()).toEqual(written.split('\n').toSorted());
      const cone = parseCone(patterns);
      const names = git(repository, 'ls-files', '-t', '-z')
        .split('\0')
        .filter((line) => line !== '');
      for (const line of names) {
        const path = Buffer.from(line.slice(2)).toString('latin1');
        expect(parseCone(Buffer.from(patterns).toString('latin1'))?.has(path), line).toBe(line.startsWith('H'));
      }
      expect(cone?.has('root.txt')).toBe(true);
    },
  );

  it('are no cone where a person wrote others', () => {
    expect(parseCone('/*\n!/docs/\n')).toBeUndefined();
    expect(parseCone('*.ts\n')).toBeUndefined();
  });
});

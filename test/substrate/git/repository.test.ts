import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compose } from '../../../src/engine/compose.ts';
import { isSquadError } from '../../../src/model/errors.ts';
import type { Workspace } from '../../../src/model/turn-request.ts';
import { createRepository as createDemo, openRepository } from '../../../src/substrate/git/repository.ts';
import type { GitPorts } from '../../../src/substrate/git/git-call.ts';
import { createGitWorkspaces } from '../../../src/substrate/git/git-workspaces.ts';
import { inspectRepository } from '../../../src/substrate/git/inspect-repository.ts';
import { createRepository, git } from '../../support/git.ts';
import { testHost } from '../../support/test-host.ts';
import { ALL } from '../../support/lane.ts';

function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'squad-git-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** git as the engine drives it, for a person whose home is `home`. */
function portsOf(home: string, environment: Record<string, string> = {}): GitPorts {
  return compose(testHost(home, { environment: { PATH: process.env['PATH'], HOME: home, ...environment } })).git;
}

/** A worktree of a task, as the engine makes it. */
async function addFolder(ports: GitPorts, path: string, stateDirectory: string): Promise<Workspace> {
  const report = await inspectRepository(ports, path);
  const workspaces = createGitWorkspaces(
    { ...ports, stateDirectory, runsDirectory: join(stateDirectory, 'work') },
    report,
  );
  return (await workspaces.addFolder({ run: 'run', task: 'task', commit: report.head })).workspace;
}

/** Everything of a checkout but what `worktree add` is for, as text that can be compared. */
function readCheckout(root: string): Record<string, string> {
  const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
  const shared = readdirSync(join(root, '.git'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\/(worktrees|objects|squad)(\/|$)/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name));
  const files = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = [...shared, ...files.map((entry) => join(entry.parentPath, entry.name))];
  const entries = paths.toSorted().map((path) => [path.slice(root.length), hash(path)] as const);
  return Object.fromEntries(entries);
}

async function refusalOf(work: Promise<unknown>): Promise<{ code: string; message: string; next: string | undefined }> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isSquadError(error)) throw new Error(`no refusal: ${String(error)}`);
  return error;
}

describe('what a repository may plant', () => {
  /** Each value names a program that would leave its mark. */
  const SETTINGS = [
    'core.fsmonitor',
    'core.pager',
    'core.editor',
    'core.sshCommand',
    'core.askPass',
    'credential.helper',
    'diff.external',
    'gpg.program',
    'pager.rev-parse',
    'pager.worktree',
    'sequence.editor',
    'alias.worktree',
    'alias.rev-parse',
    'core.gitProxy',
    'interactive.diffFilter',
  ];
  const HOOKS = ['post-checkout', 'reference-transaction', 'post-index-change', 'pre-auto-gc', 'fsmonitor-watchman'];

  it('runs nothing when it is opened and given a worktree', ALL, async () => {
    const root = temporaryFolder();
    const marks = join(root, 'marks');
    mkdirSync(marks);
    const repository = createRepository(join(root, 'repository'));
    const program = (folder: string, name: string): string => {
      mkdirSync(folder, { recursive: true });
      const path = join(folder, name);
      writeFileSync(path, `#!/bin/sh\ntouch ${join(marks, name)}\n`);
      chmodSync(path, 0o755);
      return path;
    };
    for (const name of SETTINGS) {
      const path = program(join(root, 'programs'), name);
      git(repository, 'config', name, name.startsWith('alias.') ? `!${path}` : path);
    }
    for (const hook of HOOKS) program(join(repository, '.git', 'hooks'), hook);
    for (const hook of HOOKS) program(join(root, 'more-hooks'), hook);
    git(repository, 'config', 'gc.auto', '1');
    git(repository, 'config', 'commit.gpgsign', 'true');

    // The plants are alive: a plain git of the user's runs some of them.
    git(repository, 'worktree', 'add', '-q', '--detach', join(root, 'plain'), 'HEAD');
    expect(readdirSync(marks)).toContain('post-checkout');
    for (const mark of readdirSync(marks)) rmSync(join(marks, mark));
    git(repository, 'config', 'core.hooksPath', join(root, 'more-hooks'));

    const ports = portsOf(root);
    const opened = await openRepository(ports, repository);
    const workspace = await addFolder(ports, opened.root, join(root, 'state'));
    expect(readdirSync(marks)).toEqual([]);
    expect(readFileSync(join(workspace.path, 'readme.md'), 'utf8')).toBe('# fixture\n');
  });

  it('is not led astray by the GIT_ variables of the host', async () => {
    const root = temporaryFolder();
    const repository = createRepository(join(root, 'repository'));
    const other = createRepository(join(root, 'other'));
    const mark = join(root, 'mark');
    const ports = portsOf(root, {
      GIT_DIR: join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: join(root, 'index'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: `touch ${mark}`,
      GIT_SSH_COMMAND: `touch ${mark}`,
      GIT_TRACE: join(root, 'trace'),
    });
    expect((await openRepository(ports, repository)).root).toBe(repository);
    expect(readdirSync(root).toSorted()).toEqual(['other', 'repository']);
  });
});

describe('the user’s checkout', () => {
  it('is byte for byte the same after a worktree was added', async () => {
    const root = temporaryFolder();
    const repository = createRepository(join(root, 'repository'), { 'src/a.txt': 'a\n', 'b.txt': 'b\n' });
    writeFileSync(join(repository, 'b.txt'), 'changed, not staged\n');
    writeFileSync(join(repository, 'new.txt'), 'staged\n');
    git(repository, 'add', 'new.txt');
    writeFileSync(join(repository, 'untracked.txt'), 'x\n');
    git(repository, 'branch', 'topic');
    const look = () => [
      git(repository, '--no-optional-locks', 'status', '--porcelain=v2', '--branch'),
      readCheckout(repository),
    ];
    const before = look();

    const ports = portsOf(root);
    const opened = await openRepository(ports, repository);
    const workspace = await addFolder(ports, opened.root, join(root, 'state'));
    expect(look()).toEqual(before);
    expect(workspace).toEqual({
      path: join(root, 'state', 'work', 'run', 'task'),
      repository: true,
    });
    expect(git(workspace.path, 'status', '--porcelain')).toBe('');
    expect(git(workspace.path, 'rev-parse', 'HEAD')).toBe(opened.head);
    expect(() => git(workspace.path, 'symbolic-ref', '-q', 'HEAD')).toThrow('');
  });
});

describe('openRepository', () => {
  it.each([
    'with space',
    'Zwölf Boxkämpfer',
    '-leading-dash',
    '$(touch x)',
    'quote"\'s',
    'trailing ',
    '日本',
    'UPPER.case',
  ])('opens %j, from a folder below too, and adds a worktree', ALL, async (name) => {
    const root = temporaryFolder();
    const repository = createRepository(join(root, name), { 'src/a.txt': 'a\n' });
    const ports = portsOf(root);
    const opened = await openRepository(ports, join(repository, 'src'));
    expect(opened).toMatchObject({ root: repository, commonDirectory: join(repository, '.git') });
    const workspace = await addFolder(ports, opened.root, join(root, 'state', name));
    expect(readFileSync(join(workspace.path, 'src', 'a.txt'), 'utf8')).toBe('a\n');
  });

  it.each<[string, number, ...(readonly string[])[]]>([
    ['on a branch', 1],
    [
      'on a branch of a branch',
      1,
      ['symbolic-ref', 'refs/heads/other', 'refs/heads/main'],
      ['symbolic-ref', 'HEAD', 'refs/heads/other'],
    ],
    ['with HEAD detached', 1, ['checkout', '--quiet', '--detach']],
    // Only then is the target asked for alone.
    ['next to a tag that is named HEAD', 2, ['update-ref', 'refs/tags/HEAD', 'main']],
    ['next to a branch that is named HEAD', 2, ['update-ref', 'refs/heads/HEAD', 'main']],
  ])('asks git at once for all that it has to know, %s', async (_what, asked, ...changes) => {
    const root = temporaryFolder();
    const repository = createRepository(join(root, 'repository'));
    for (const change of changes) git(repository, ...change);
    const isDetached = changes.some(([verb]) => verb === 'checkout');
    const ports = portsOf(root);
    let started = 0;
    const run: GitPorts['processes']['run'] = async (...all) => {
      started += 1;
      return ports.processes.run(...all);
    };
    const opened = await openRepository({ ...ports, processes: { ...ports.processes, run } }, repository);
    expect([opened.head, opened.branch]).toEqual([
      git(repository, 'rev-parse', 'main'),
      isDetached ? undefined : git(repository, 'symbolic-ref', 'HEAD').replace('refs/heads/', ''),
    ]);
    expect(started).toBe(asked);
  });

  it('refuses a path with a line break, which git cannot tell from two answers', async () => {
    const root = temporaryFolder();
    const repository = createRepository(join(root, 'two\nlines'));
    const refused = await refusalOf(openRepository(portsOf(root), repository));
    expect(refused).toMatchObject({ code: 'not-a-repository', message: expect.stringContaining('line break') });
  });

  it('sees one repository through a symbolic link, and tells namesakes apart', async () => {
    const root = temporaryFolder();
    const [one, two] = ['one', 'two'].map((name) => createRepository(join(root, name, 'repository')));
    symlinkSync(one!, join(root, 'link'));
    const ports = portsOf(root);
    const opened = await Promise.all([one!, join(root, 'link'), two!].map(async (path) => openRepository(ports, path)));
    expect(opened[1]).toEqual(opened[0]);
    expect(opened[2]?.commonDirectory).not.toBe(opened[0]?.commonDirectory);
  });

  it('takes a linked worktree as a checkout of its own with the shared git directory', async () => {
    const root = temporaryFolder();
    const repository = createRepository(join(root, 'repository'));
    git(repository, 'worktree', 'add', '-q', '--detach', join(root, 'linked'), 'HEAD');
    const opened = await openRepository(portsOf(root), join(root, 'linked'));
    expect(opened).toMatchObject({ root: join(root, 'linked'), commonDirectory: join(repository, '.git') });
  });

  it.each<[string, (root: string) => string, RegExp]>([
    ['a plain folder', (root) => (mkdirSync(join(root, 'plain')), join(root, 'plain')), /git init/],
    ['a home folder', (root) => root, /^Change to the folder of a repository/],
    ['a folder that is not there', (root) => join(root, 'gone'), /a folder that is there/],
    ['a bare repository', (root) => (git(root, 'init', '-q', '--bare', 'bare'), join(root, 'bare')), /git clone/],
    ['a git directory', (root) => join(createRepository(join(root, 'r')), '.git'), /in its checkout/],
    ['no commit yet', (root) => (git(root, 'init', '-q', 'empty'), join(root, 'empty')), /commit -m/],
  ])('%s is refused with what to do', async (_, make, next) => {
    const root = temporaryFolder();
    const refused = await refusalOf(openRepository(portsOf(root), make(root)));
    expect(refused.code).toBe('not-a-repository');
    expect(refused.next).toMatch(next);
    expect(refused.message).not.toContain('\n');
  });
});

describe('the demo’s repository', () => {
  it('has one commit and an identity of its own, whatever the person has configured', async () => {
    const root = temporaryFolder();
    writeFileSync(
      join(root, '.gitconfig'),
      '[commit]\n\tgpgsign = true\n[init]\n\ttemplateDir = /nowhere\n[core]\n\thooksPath = /nowhere\n',
    );
    await createDemo(portsOf(root), join(root, 'demo'), { 'a.txt': 'a\n' });
    expect(git(join(root, 'demo'), 'log', '--format=%an %D')).toBe('squad demo HEAD -> main');
    expect(git(join(root, 'demo'), 'status', '--porcelain')).toBe('');
  });

  it('is never made over somebody’s files', async () => {
    const root = temporaryFolder();
    writeFileSync(join(root, 'a.txt'), 'mine');
    await expect(createDemo(portsOf(root), root, { 'a.txt': 'a\n' })).rejects.toThrow('EEXIST');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('mine');
  });
});

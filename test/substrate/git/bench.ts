import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createSystemClock } from '../../../src/substrate/clock/system-clock.ts';
import { isSquadError } from '../../../src/model/errors.ts';
import { inspectRepository } from '../../../src/substrate/git/inspect-repository.ts';
import { createGitWorkspaces } from '../../../src/substrate/git/git-workspaces.ts';
import type { GitPorts } from '../../../src/substrate/git/repository.ts';
import type { RepositoryReport, Worktree, Workspaces } from '../../../src/substrate/ports/workspaces.ts';
import { createSystemProcesses } from '../../../src/substrate/process/index.ts';
import { createRepository, git } from '../../support/git.ts';

/** A real repository with real workspaces over it, in a temporary folder that goes with the test. */
export interface GitBench {
  readonly root: string;
  readonly repository: string;
  readonly stateDirectory: string;
  readonly ports: GitPorts & { clock: ReturnType<typeof createSystemClock>; stateDirectory: string };
  readonly report: RepositoryReport;
  readonly workspaces: Workspaces;
}

const folders: string[] = [];

export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'squad-git-')));
  folders.push(folder);
  return folder;
}

/** After each test. Not by vitest's own hook: a child process uses this file too. */
export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function portsIn(home: string, binary = '/usr/bin/git'): GitBench['ports'] {
  const clock = createSystemClock();
  return {
    clock,
    stateDirectory: join(home, 'state'),
    processes: createSystemProcesses({ clock }),
    environment: { PATH: process.env['PATH'], HOME: home },
    binary: () => Promise.resolve(binary),
  };
}

export async function openBench(
  files: Readonly<Record<string, string>> = {},
  arrange?: (repository: string) => void,
): Promise<GitBench> {
  const root = temporaryFolder();
  const repository = createRepository(join(root, 'repository'), files);
  arrange?.(repository);
  return benchOver(root, repository);
}

export async function benchOver(root: string, repository: string, binary?: string): Promise<GitBench> {
  const ports = portsIn(root, binary);
  const report = await inspectRepository(ports, repository);
  return {
    root,
    repository,
    ports,
    report,
    stateDirectory: ports.stateDirectory,
    workspaces: createGitWorkspaces(ports, report),
  };
}

/** What an agent does in its worktree: writes files and commits them. */
export function commitIn(worktree: Worktree, files: Readonly<Record<string, string>>, message = 'work'): string {
  const { path } = worktree.workspace;
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  git(path, 'add', '-A');
  git(path, 'commit', '-q', '--allow-empty', '-m', message);
  return git(path, 'rev-parse', 'HEAD');
}

/** Everything of the user's: working tree, index, config, hooks, HEAD and all refs but squad's. */
export function fingerprint(repository: string): Record<string, string> {
  const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
  const common = resolve(repository, git(repository, 'rev-parse', '--git-common-dir'));
  const own = (path: string) =>
    !/\/(?:worktrees|objects|squad|logs\/refs\/heads\/squad|refs\/squad)(?:\/|$)/.test(path);
  const files = [repository, ...(common.startsWith(`${repository}/`) ? [] : [common])].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !path.includes('/.git/') || own(path.slice(path.indexOf('/.git/')))),
  );
  return Object.fromEntries(files.toSorted().map((path) => [path, hash(path)] as const));
}

/** What is wrong with it: git's own findings, and worktrees that are not the number there should be. */
export function findFaults(bench: GitBench, worktrees: number): readonly string[] {
  const listed = git(bench.repository, 'worktree', 'list', '--porcelain').match(/^worktree /gm)?.length ?? 0;
  return [
    git(bench.repository, 'fsck', '--strict', '--no-dangling'),
    git(bench.repository, 'worktree', 'prune', '--dry-run', '--verbose'),
    listed === worktrees + 1 ? '' : `${listed - 1} worktrees instead of ${worktrees}`,
    ...readdirSync(join(bench.repository, '.git'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.lock'),
    ),
  ].filter((fault) => fault !== '');
}

/** A program that leaves a mark when it is run. */
export function plant(folder: string, name: string, mark: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\ntouch ${mark}-${name}\ncat\n`);
  chmodSync(path, 0o755);
  return path;
}

export async function refusalOf(
  work: Promise<unknown>,
): Promise<{ code: string; message: string; next: string | undefined; exitCode: number }> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isSquadError(error)) throw new Error(`no refusal: ${String(error)}`);
  return error;
}

import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isSquadError } from '../../../src/model/errors.ts';
import { createSystemClock } from '../../../src/substrate/system/clock/system-clock.ts';
import type { GitPorts } from '../../../src/substrate/git/git-call.ts';
import { createGitWorkspaces, type WorkspacePlaces } from '../../../src/substrate/git/git-workspaces.ts';
import { inspectRepository } from '../../../src/substrate/git/inspect-repository.ts';
import type { RepositoryReport, TaskFolder, Workspaces } from '../../../src/substrate/ports/workspaces.ts';
import type { FindCage } from '../../../src/substrate/system/process/git-cage.ts';
import { createSystemProcesses } from '../../../src/substrate/system/process/system-processes.ts';
import { createRepository, git } from '../../support/git.ts';

/** A real repository with real workspaces over it, in a temporary folder that goes with the test. */
export interface GitBench {
  readonly root: string;
  readonly repository: string;
  readonly stateDirectory: string;
  readonly ports: GitPorts & WorkspacePlaces & { clock: ReturnType<typeof createSystemClock> };
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

/** For tests of what holds on a machine without a cage. */
export const NO_CAGE: FindCage = () => Promise.resolve({ problem: 'it is switched off' });

export function portsIn(home: string, binary = '/usr/bin/git', cage?: FindCage): GitBench['ports'] {
  const clock = createSystemClock();
  return {
    clock,
    stateDirectory: join(home, 'state'),
    runsDirectory: join(home, 'state', 'work'),
    processes: createSystemProcesses({ clock }),
    environment: { PATH: process.env['PATH'], HOME: home },
    binary: () => Promise.resolve(binary),
    ...(cage === undefined ? {} : { cage }),
  };
}

export async function openBench(
  files: Readonly<Record<string, string>> = {},
  arrange?: (repository: string) => void,
  cage?: FindCage,
): Promise<GitBench> {
  const root = temporaryFolder();
  const repository = createRepository(join(root, 'repository'), files);
  arrange?.(repository);
  return benchOver(root, repository, undefined, cage);
}

export async function benchOver(root: string, repository: string, binary?: string, cage?: FindCage): Promise<GitBench> {
  // A script in the place of git writes where the cage does not let it.
  const isGit = binary === undefined || binary === '/usr/bin/git';
  const ports = portsIn(root, binary, cage ?? (isGit ? undefined : NO_CAGE));
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

/** What an agent does in its folder: writes files and commits them. */
export function commitIn(worktree: TaskFolder, files: Readonly<Record<string, string>>, message = 'work'): string {
  const { path } = worktree.workspace;
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  git(path, 'add', '-A');
  git(path, 'commit', '-q', '--allow-empty', '-m', message);
  return git(path, 'rev-parse', 'HEAD');
}

/** The same, taken over by the engine at the ref of an attempt, as after every turn. */
export async function keptIn(
  workspaces: Workspaces,
  worktree: TaskFolder,
  files: Readonly<Record<string, string>>,
  message?: string,
): Promise<string> {
  const commit = commitIn(worktree, files, message);
  const kept = await workspaces.rescue(worktree, `${worktree.task}-1`);
  if (kept.type !== 'kept') throw new Error(JSON.stringify(kept));
  return commit;
}

/**
 * Everything of the user's, by bytes: files, modes and links of the checkout, index, config, hooks, HEAD, stash, locks, other
 * worktrees; and what git makes of it: status and all refs but squad's.
 */
export function fingerprint(repository: string): Record<string, string> {
  const common = commonDirectoryOf(repository);
  const inside = (path: string) => path === common || path.startsWith(`${common}/`);
  const checkout = filesBelow(repository).filter((path) => !inside(path));
  const own = filesBelow(common).filter((path) => isUsersOwn(path.slice(common.length + 1)));
  const files = [...checkout, ...own].toSorted().map((path) => [path, contentOf(path)] as const);
  const refs = git(repository, 'for-each-ref', '--format=%(refname) %(objectname) [%(symref)]');
  const theirs = refs.split('\n').filter((ref) => !/^refs\/(?:heads\/)?squad\//.test(ref));
  return { ...Object.fromEntries(files), refs: theirs.join('\n'), status: statusOf(repository) };
}

export function commonDirectoryOf(repository: string): string {
  return realpathSync(resolve(repository, git(repository, 'rev-parse', '--git-common-dir')));
}

/** Not by `recursive`, which follows links. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** `path`: below the common directory. */
function isUsersOwn(path: string): boolean {
  return !/^(?:objects|refs\/squad|(?:logs\/)?refs\/heads\/squad)\//.test(path);
}

function contentOf(path: string): string {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  if (!found.isFile()) return `mode ${found.mode}`;
  return `${found.mode} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
}

/** Without writing the index. Where a filter is missing git cannot tell; in which words depends on who gives up first. */
function statusOf(repository: string): string {
  try {
    return git(repository, '--no-optional-locks', 'status', '--porcelain=v2', '--branch', '--ignored', '-z');
  } catch {
    return 'git cannot tell';
  }
}

/** The refs that keep attempts in the user's repository, without the pins of the run. */
export function keptRefs({ repository }: Pick<GitBench, 'repository'>): string {
  const refs = git(repository, 'for-each-ref', '--format=%(refname)', 'refs/squad').split('\n');
  return refs.filter((ref) => !ref.includes('/pin.')).join('\n');
}

/** What is wrong with it: git's own findings, and locks that somebody left. */
export function findFaults(bench: Pick<GitBench, 'repository'>): readonly string[] {
  return [
    git(bench.repository, 'fsck', '--strict', '--no-dangling'),
    git(bench.repository, 'worktree', 'prune', '--dry-run', '--verbose'),
    ...filesBelow(commonDirectoryOf(bench.repository)).filter((path) => path.endsWith('.lock')),
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

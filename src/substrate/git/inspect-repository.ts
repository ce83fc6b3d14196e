import { access, constants, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SquadError } from '../../model/errors.ts';
import { defined } from '../../text/defined.ts';
import type { RepositoryReport, RepositoryWarning } from '../ports/workspaces.ts';
import { decideIdentity, readUserConfiguration, neutralDrivers } from './neutral-settings.ts';
import { createGit, type Git, type GitCall, type GitPorts, oneLine, SQUAD_IDENTITY, splitEntries } from './git-call.ts';
import { openRepository, type Repository } from './repository.ts';

/** Names in a warning; the rest are counted. */
const NAMED = 5;

/**
 * Checks that agents can work in the repository at a path, and collects warnings for the person. Throws a SquadError with the
 * problem and the command that helps. Changes nothing.
 */
export async function inspectRepository(ports: GitPorts, path: string): Promise<RepositoryReport> {
  const git = createGit(ports);
  await refuseWithoutCheckout(git, path);
  const repository = await openRepository(ports, path);
  const call = { cwd: repository.root };
  await refuseSquadBranch(git, call);
  const version = (await git.text(['--version'], call)).replace(/^git version /, '');
  if (isTooOld(parseGitVersion(version))) {
    const next = 'Update git, to 2.43.7 or newer.';
    throw refusal(`git ${version} cannot integrate work: squad needs 2.38`, { next, code: 'wrong-environment' });
  }
  const { head } = repository;
  const [changed, filters, submodules] = [
    await trackedChanges(git, call, repository),
    await filtersOf(git, call, head),
    await submodulesOf(git, call, head),
  ];
  const isSparse = (await git.run(['config', '--type=bool', 'core.sparseCheckout'], call)).stdout.trim() === 'true';
  const isShallow = (await git.text(['rev-parse', '--is-shallow-repository'], call)) === 'true';
  const warnings = [
    warn(
      changed.length > 0,
      'tracked-changes',
      `agents start from commit ${head.slice(0, 12)}, without your uncommitted changes to ${named(changed)}`,
      'Commit them first if agents should see them.',
    ),
    decideVersionWarning(version),
    ...commitWarnings(await lookAtCommits(ports, git, repository)),
    warn(
      filters.length > 0,
      'filters',
      `squad runs no filters: files of ${named(filters)} are in agents' worktrees as git stores them (for lfs: as pointers)`,
      'Fetch what agents need in `setup`, for example with `git lfs pull`.',
    ),
    warn(
      submodules.length > 0,
      'submodules',
      `submodules are empty in agents' worktrees: ${named(submodules)}`,
      'Fill those that agents need in `setup`, with `git submodule update --init`.',
    ),
    warn(isSparse, 'sparse', "agents' worktrees have the same sparse patterns as your checkout"),
    warn(isShallow, 'shallow', 'the clone is shallow: agents do not see older history'),
  ];
  const branch = await branchOf(git, call);
  return { ...repository, branch, sparse: isSparse, warnings: warnings.filter((warning) => warning !== undefined) };
}

async function refuseWithoutCheckout(git: Git, path: string): Promise<void> {
  const found = await git.run(['rev-parse', '--is-bare-repository', '--is-inside-git-dir'], { cwd: path });
  if (/dubious ownership/.test(found.stderr)) {
    throw refusal(`git does not trust ${path}: it belongs to another user`, {
      next: `If you do, run \`git config --global --add safe.directory ${JSON.stringify(path)}\`.`,
    });
  }
  const [bare, inside] = found.stdout.split('\n');
  if (bare === 'true') {
    throw refusal(`${path} is a bare repository: it has no checkout`, {
      next: `Clone it, and run squad in the clone: \`git clone ${JSON.stringify(path)} work\`.`,
    });
  }
  if (inside === 'true') {
    throw refusal(`${path} is inside a git directory`, {
      next: 'Run squad in its checkout, or create one with `git init`.',
    });
  }
}

/** git stores branches as files, so a branch `squad` prevents `squad/<run>`. */
async function refuseSquadBranch(git: Git, call: GitCall): Promise<void> {
  const found = await git.run(['show-ref', '--verify', '--quiet', 'refs/heads/squad'], call);
  if (found.code !== 0) return;
  throw refusal('the repository has a branch named `squad`, so git cannot create `squad/<run>`', {
    next: 'Rename it: `git branch -m squad squad-old`.',
    code: 'wrong-environment',
  });
}

async function branchOf(git: Git, call: GitCall): Promise<string | undefined> {
  const found = await git.run(['symbolic-ref', '--quiet', '--short', 'HEAD'], call);
  return found.code === 0 ? found.stdout.trim() : undefined;
}

async function submodulesOf(git: Git, call: GitCall, head: string): Promise<readonly string[]> {
  const args = ['config', '--blob', `${head}:.gitmodules`, '-z', '--get-regexp', '^submodule\\..*\\.path$'];
  const { code, stdout } = await git.run(args, call);
  if (code !== 0) return [];
  return splitEntries(stdout).map((entry) => entry.slice(entry.indexOf('\n') + 1));
}

async function filtersOf(git: Git, call: GitCall, head: string): Promise<readonly string[]> {
  const attributes = [':(glob)**/.gitattributes'];
  const pattern = ['--no-textconv', '--no-color', '-h', '-o', '-E', 'filter=[^[:space:]]+'];
  const { stdout } = await git.run(['grep', ...pattern, head, '--', ...attributes], call);
  return [...new Set(stdout.split('\n').map((line) => line.replace(/^filter=/, '')))]
    .filter((name) => name !== '')
    .toSorted();
}

/** Untracked files do not count, because agents do not get them. */
async function trackedChanges(git: Git, call: GitCall, repository: Repository): Promise<readonly string[]> {
  const environment = await neutralDrivers(git, repository.commonDirectory);
  // Without submodules, in which git would start another git.
  const args = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=no', '--ignore-submodules=all'];
  const { code, stdout, stderr } = await git.run(args, { ...call, environment });
  if (code !== 0)
    throw refusal(`git cannot list the changes in ${repository.root}: ${oneLine(stderr)}`, {
      next: 'Run `git status` there.',
    });
  return splitEntries(stdout).map((entry) => entry.slice(3));
}

function named(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return `${names.slice(0, NAMED).join(', ')}${more}`;
}

function refusal(message: string, more: { next: string; code?: 'not-a-repository' | 'wrong-environment' }): SquadError {
  return new SquadError({ code: more.code ?? 'not-a-repository', message, next: more.next });
}

/** `merge-tree --write-tree`, by which integration works. */
const NEEDED = [2, 38, 0];
/** First version of each line without CVE-2025-48384 (a cloned submodule can write anywhere). Older lines have no fix. */
const SAFE = ['2.43.7', '2.44.4', '2.45.4', '2.46.4', '2.47.3', '2.48.2', '2.49.1', '2.50.1'].map((text) =>
  text.split('.').map(Number),
);

/** From `2.39.5`, `2.39.5 (Apple Git-154)`, `2.50.1.windows.1`. */
export function parseGitVersion(text: string): readonly number[] | undefined {
  const found = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return found === null ? undefined : found.slice(1).map((part) => Number(part ?? 0));
}

export function isTooOld(version: readonly number[] | undefined): boolean {
  return version === undefined || isBelow(version, NEEDED);
}

export function decideVersionWarning(text: string): RepositoryWarning | undefined {
  const version = parseGitVersion(text) ?? [];
  const line = SAFE.find(([major, minor]) => version[0] === major && version[1] === minor) ?? SAFE[0];
  if (line === undefined || !isBelow(version, line)) return undefined;
  const safe = line.join('.');
  const warning = `git ${text} is older than ${safe} and may have CVE-2025-48384 unless your distributor patched it`;
  return { about: 'git-version', text: warning, next: `Update git to ${safe} or newer.` };
}

function isBelow(version: readonly number[], floor: readonly number[]): boolean {
  const at = floor.findIndex((part, index) => (version[index] ?? 0) !== part);
  return at >= 0 && (version[at] ?? 0) < (floor[at] ?? 0);
}

/** Differences between the user's own commits and those that agents make. */
interface CommitFacts {
  readonly identity: boolean;
  readonly signed: boolean;
  readonly hooks: { readonly folder: string; readonly names: readonly string[] };
}

const YES = /^(?:true|yes|on|[1-9]\d*)$/i;

async function lookAtCommits(
  ports: GitPorts,
  git: Git,
  { root, commonDirectory }: Pick<Repository, 'root' | 'commonDirectory'>,
): Promise<CommitFacts> {
  const entries = await readUserConfiguration(ports, git, commonDirectory);
  const set = (key: string): string => entries.findLast((entry) => entry.key === key)?.value ?? '';
  const hooks = set('core.hookspath').replace(/^~(?=\/)/, () => ports.environment['HOME'] ?? '~');
  const folder = hooks === '' ? resolve(commonDirectory, 'hooks') : resolve(root, hooks);
  return {
    identity: decideIdentity(entries, ports.environment) !== undefined,
    signed: YES.test(set('commit.gpgsign')),
    hooks: { folder, names: await hooksIn(folder) },
  };
}

/** A warning, if the condition holds. */
function warn(
  condition: boolean,
  about: RepositoryWarning['about'],
  text: string,
  next?: string,
): RepositoryWarning | undefined {
  return condition ? defined({ about, text, next }) : undefined;
}

/** Warnings about these differences. None of them stops a run. */
function commitWarnings({ identity, signed, hooks }: CommitFacts): readonly (RepositoryWarning | undefined)[] {
  const { name, email } = SQUAD_IDENTITY;
  return [
    warn(
      !identity,
      'identity',
      `git has no name and e-mail address for you: agents commit as ${name} <${email}>`,
      'Set them with `git config --global user.name …` and `git config --global user.email …`.',
    ),
    warn(
      signed,
      'signing',
      'git signs your commits (commit.gpgSign); commits by agents and squad are not signed, because they have no key',
      'Sign what you merge, with `git merge -S`.',
    ),
    warn(
      hooks.names.length > 0,
      'hooks',
      `no hook runs for agents or squad; ${hooks.folder} has ${hooks.names.join(', ')}`,
      'Put what they check into `verify` of squad.yaml.',
    ),
  ];
}

/** Hooks that git would run. git ignores files with an extension and files that are not executable. */
async function hooksIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => !entry.isDirectory() && /^[a-z0-9-]+$/.test(entry.name));
  const executable = await Promise.all(names.map(({ name }) => isExecutable(join(folder, name))));
  return names.flatMap(({ name }, index) => (executable[index] === true ? [name] : [])).toSorted();
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

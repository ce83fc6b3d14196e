import { access, constants, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SquadError } from '../../model/errors.ts';
import { defined } from '../../text/defined.ts';
import type { RepositoryReport, RepositoryWarning } from '../ports/workspaces.ts';
import { decideIdentity, readUserConfiguration, withoutFilters, type ConfigEntry } from './user-configuration.ts';
import { createGit, type Git, type GitCall, type GitPorts, oneLine, SQUAD_IDENTITY, splitEntries } from './git-call.ts';
import { decideVersionWarning, isTooOld, parseGitVersion } from './git-version.ts';
import { askAbout, repositoryOf, type FolderAnswer, type Repository } from './repository.ts';

/** Names in a warning; the rest are counted. */
const NAMED = 5;

/**
 * Checks that agents can work in the repository at a path, and collects warnings for the person. Throws a SquadError with the
 * problem and the command that helps. Changes nothing.
 */
export async function inspectRepository(ports: GitPorts, path: string): Promise<RepositoryReport> {
  const git = createGit(ports);
  const asked = await askAbout(ports, path);
  refuseWithoutCheckout(asked, path);
  const repository = repositoryOf(asked, path);
  const { root, head } = repository;
  const call = { cwd: root };
  const configuration = readUserConfiguration(ports, git, repository.gitDirectory);
  const answers = [
    runBranchesOf(git, call),
    versionOf(git, call),
    trackedChanges(ports, git, root, configuration),
    filtersOf(git, call, head),
    submodulesOf(git, call, head),
    lookAtCommits(ports, repository, configuration),
    configuration,
  ] as const;
  // Side by side; the first refusal in this order counts, however fast each came.
  await Promise.allSettled(answers);
  const [runBranches, version, changed, filters, submodules, commits, entries] = await Promise.all(answers);
  refusePartial(entries, root);
  const sparse = isSet(entries, 'core.sparsecheckout');
  const warnings = [
    warn(
      changed.length > 0,
      'tracked-changes',
      `agents start from commit ${head.slice(0, 12)}, without your uncommitted changes to ${named(changed)}`,
      'Commit them first if agents should see them.',
    ),
    decideVersionWarning(version),
    ...commitWarnings(commits),
    warn(
      filters.length > 0,
      'filters',
      `squad runs no filters: files of ${named(filters)} are in agents' folders as git stores them (for lfs: as pointers)`,
      `In \`setup\`, write what agents need into ignored files, for lfs with \`git -C ${JSON.stringify(root)} lfs smudge <a.bin >ignored/a.bin\`. squad delivers changes of tracked files.`,
    ),
    warn(
      submodules.length > 0,
      'submodules',
      `submodules are empty in agents' folders: ${named(submodules)}`,
      'Fill those that agents need in `setup`, with `git submodule update --init`.',
    ),
    warn(sparse, 'sparse', "agents' folders have the same sparse patterns as your checkout"),
    warn(repository.shallow, 'shallow', 'the clone is shallow: agents do not see older history'),
  ].filter((warning) => warning !== undefined);
  const { commonDirectory, key, branch } = repository;
  return { root, commonDirectory, head, key, branch, sparse, runBranches, warnings };
}

function refuseWithoutCheckout({ answer, bare, insideGit }: FolderAnswer, path: string): void {
  if (/dubious ownership/.test(answer.stderr)) {
    throw refusal(`git does not trust ${path}: it belongs to another user`, {
      next: `If you do, run \`git config --global --add safe.directory ${JSON.stringify(path)}\`.`,
    });
  }
  if (bare) {
    throw refusal(`${path} is a bare repository: it has no checkout`, {
      next: `Clone it, and run squad in the clone: \`git clone ${JSON.stringify(path)} work\`.`,
    });
  }
  if (insideGit) {
    throw refusal(`${path} is inside a git directory`, {
      next: 'Run squad in its checkout, or create one with `git init`.',
    });
  }
}

/** Agents' repositories borrow the objects of this one, and their git would ask the remote for each that is missing. */
function refusePartial(entries: readonly ConfigEntry[], root: string): void {
  if (!entries.some(({ key }) => /^(?:extensions\.partialclone|remote\..*\.promisor)$/s.test(key))) return;
  throw refusal(`${root} is a partial clone: it does not have all objects of its commits`, {
    next: 'Run squad in a whole clone: `git clone` without `--filter`.',
  });
}

const RUN_BRANCHES = 'refs/heads/squad/';

/** Names of the runs that have a branch. git stores branches as files, so a branch `squad` prevents `squad/<run>`. */
async function runBranchesOf(git: Git, call: GitCall): Promise<readonly string[]> {
  const found = await git.text(['for-each-ref', '--format=%(refname)', RUN_BRANCHES.slice(0, -1)], call);
  const names = found.split('\n');
  if (names.every((name) => `${name}/` !== RUN_BRANCHES)) {
    return names.flatMap((name) => (name.startsWith(RUN_BRANCHES) ? [name.slice(RUN_BRANCHES.length)] : []));
  }
  throw refusal('the repository has a branch named `squad`, so git cannot create `squad/<run>`', {
    next: 'Rename it: `git branch -m squad squad-old`.',
    code: 'wrong-environment',
  });
}

async function versionOf(git: Git, call: GitCall): Promise<string> {
  const version = (await git.text(['--version'], call)).replace(/^git version /, '');
  if (!isTooOld(parseGitVersion(version))) return version;
  const next = 'Update git, to 2.43.7 or newer.';
  throw refusal(`git ${version} cannot integrate work: squad needs 2.38`, { next, code: 'wrong-environment' });
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
async function trackedChanges(
  ports: GitPorts,
  git: Git,
  root: string,
  configuration: Promise<readonly ConfigEntry[]>,
): Promise<readonly string[]> {
  const environment = withoutFilters(ports, await configuration);
  // Without submodules, in which git would start another git.
  const args = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=no', '--ignore-submodules=all'];
  const { code, stdout, stderr } = await git.run(args, { cwd: root, environment });
  if (code !== 0)
    throw refusal(`git cannot list the changes in ${root}: ${oneLine(stderr)}`, {
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

/** Differences between the user's own commits and those that agents make. */
interface CommitFacts {
  readonly identity: boolean;
  readonly signed: boolean;
  readonly hooks: { readonly folder: string; readonly names: readonly string[] };
}

/** Whether the last of these entries sets a key to true. */
function isSet(entries: readonly ConfigEntry[], key: string): boolean {
  return /^(?:true|yes|on|[1-9]\d*)$/i.test(entries.findLast((entry) => entry.key === key)?.value ?? '');
}

async function lookAtCommits(
  ports: GitPorts,
  { root, commonDirectory }: Pick<Repository, 'root' | 'commonDirectory'>,
  configuration: Promise<readonly ConfigEntry[]>,
): Promise<CommitFacts> {
  const entries = await configuration;
  const set = (key: string): string => entries.findLast((entry) => entry.key === key)?.value ?? '';
  const hooks = set('core.hookspath').replace(/^~(?=\/)/, () => ports.environment['HOME'] ?? '~');
  const folder = hooks === '' ? resolve(commonDirectory, 'hooks') : resolve(root, hooks);
  return {
    identity: decideIdentity(entries, ports.environment) !== undefined,
    signed: isSet(entries, 'commit.gpgsign'),
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

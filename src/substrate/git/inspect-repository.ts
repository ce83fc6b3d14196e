import { access, constants, readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { wrongEnvironment } from '../../model/errors.ts';
import { realPath } from '../system/files/real-path.ts';
import { requireStateFolder } from '../system/files/require-folder.ts';
import { requireWritable } from './require-writable.ts';
import { switchAdvice } from './switch-advice.ts';
import { absolutePath } from '../../text/absolute-path.ts';
import { defined } from '../../text/defined.ts';
import type { RepositoryReport, RepositoryWarning } from '../ports/workspaces.ts';
import { commitFacts } from './commit-facts.ts';
import { decideIdentity, readUserConfiguration, withoutFilters, type ConfigEntry } from './user-configuration.ts';
import { createGit, type Git, type GitCall, type GitPorts, oneLine, SQUAD_IDENTITY, splitEntries } from './git-call.ts';
import { decideVersionWarning, isTooOld, parseGitVersion } from './git-version.ts';
import type { Beginning } from './begin-at.ts';
import { notARepository, openRepository, type Repository } from './repository.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import { findOddEntries } from '../system/files/odd-entry.ts';
import { commonDirectoryAt } from './plain-checkout.ts';

/** Names in a warning; the rest are counted. */
const NAMED = 5;

/** Where agents start, if not at the commit that is checked out. */
export type Begin = (opened: Repository) => Promise<Beginning>;

/**
 * Checks that agents can work in the repository at a path, and collects warnings for the person. Throws a SquadError with the
 * problem and the command that helps. Changes nothing.
 */
export async function inspectRepository(ports: GitPorts, path: string, begin?: Begin): Promise<RepositoryReport> {
  const git = createGit(ports);
  const opened = await openRepository(ports, path);
  const beginning = await begin?.(opened);
  const repository = { ...opened, ...beginning };
  const { root, head } = repository;
  const call = { cwd: root };
  const configuration = readUserConfiguration(ports, git, repository.gitDirectory);
  const answers = [
    runBranchesOf(git, call),
    versionOf(ports, git, call),
    trackedChanges(ports, git, root, configuration),
    commitFacts(git, call, head),
    commitWarnings(ports, repository, configuration),
    configuration,
    opened.branch === undefined ? switchAdvice(ports, repository) : Promise.resolve(undefined),
  ] as const;
  // Side by side; the first refusal in this order counts, however fast each came.
  await Promise.allSettled(answers);
  const [runBranches, version, changed, facts, commits, entries, switching] = await Promise.all(answers);
  refusePartial(entries, root);
  const sparse = isSet(entries, 'core.sparsecheckout');
  const { filters, submodules } = facts;
  const warnings = [
    warn(
      changed.length > 0,
      'tracked-changes',
      `agents start from commit ${head.slice(0, 12)}, without your uncommitted changes to ${named(changed)}`,
      'Commit them first if agents should see them.',
    ),
    decideVersionWarning(version),
    ...commits,
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
    detachedWarning(opened, beginning, switching),
    variablesWarning(ports, repository),
  ].filter((warning) => warning !== undefined);
  const { commonDirectory, branch } = repository;
  const from = defined({ from: beginning?.from });
  return { root, commonDirectory, head, branch, ...from, sparse, runBranches, warnings };
}

/** Agents' repositories borrow the objects of this one, and their git would ask the remote for each that is missing. */
function refusePartial(entries: readonly ConfigEntry[], root: string): void {
  if (!entries.some(({ key }) => /^(?:extensions\.partialclone|remote\..*\.promisor)$/s.test(key))) return;
  const next = 'Run squad in a whole clone: `git clone` without `--filter`.';
  throw notARepository(`${root} is a partial clone: it does not have all objects of its commits`, next);
}

function detachedWarning(
  { branch }: Repository,
  beginning: Beginning | undefined,
  switching = '',
): RepositoryWarning | undefined {
  const start = beginning === undefined ? 'agents start from its commit, and ' : '';
  const text = `no branch is checked out (HEAD is detached): ${start}\`squad merge\` needs a branch`;
  return warn(branch === undefined, 'detached', text, `Check out the branch that gets the work: \`${switching}\`.`);
}

/** squad finds a repository by its folder, as it does for each of its gits, whatever a shell or a hook has set. */
function variablesWarning({ environment }: GitPorts, { root, gitDirectory, commonDirectory }: Repository) {
  const ours = { GIT_DIR: [gitDirectory, commonDirectory], GIT_WORK_TREE: [root] };
  const others = Object.entries(ours).filter(([name, places]) => {
    const value = environment[name] ?? '';
    const named = resolve(root, value);
    return value !== '' && !places.includes(realPath(named) ?? named);
  });
  const names = others.map(([name]) => `${name}=${environment[name]}`).join(' and ');
  return warn(others.length > 0, 'git-variables', `${names} counts for nothing: squad works in ${root}`);
}

/** Everything that `inspectRepository` checks, and that a run can write to the repository and squad's state folder. */
export async function inspectForWork(ports: GitPorts, path: string, begin?: Begin): Promise<RepositoryReport> {
  requirePlainStore(path);
  const report = await inspectRepository(ports, path, begin);
  await requireWritable(report, ports.stateDirectory);
  requireStateFolder(ports.stateDirectory);
  return report;
}

const RUN_BRANCHES = 'refs/heads/squad/';
const RUN_REFS = 'refs/squad';
/** A plain name would be a pattern for all refs below it, too. */
const THAT_REF = 'refs/squa[d]';

/**
 * Names that no run can have, because of refs that are there. git stores refs as files, so a ref prevents all below it, and one
 * below prevents it: a branch `squad` each run branch, `squad/<run>/x` that of one run, and `refs/squad/<run>` the refs of its work.
 */
async function runBranchesOf(git: Git, call: GitCall): Promise<readonly string[]> {
  const patterns = [RUN_BRANCHES.slice(0, -1), `${RUN_REFS}/*`, THAT_REF];
  const names = (await git.text(['for-each-ref', '--format=%(refname)', ...patterns], call)).split('\n');
  if (names.includes(RUN_REFS)) {
    throw wrongEnvironment(
      `the repository has a ref \`${RUN_REFS}\`, so git cannot create \`${RUN_REFS}/<run>\``,
      `Rename it: \`git update-ref refs/squad-old ${RUN_REFS} && git update-ref -d ${RUN_REFS}\`.`,
    );
  }
  if (names.some((name) => `${name}/` === RUN_BRANCHES)) {
    throw wrongEnvironment(
      'the repository has a branch named `squad`, so git cannot create `squad/<run>`',
      'Rename it: `git branch -m squad squad-old`.',
    );
  }
  const taken = names.map((name) => /^(?:refs\/heads\/squad|refs\/squad)\/([^/]+)/.exec(name)?.[1]);
  return [...new Set(taken.filter((name) => name !== undefined))];
}

/** The git whose version was asked for last. */
let asked: { readonly program: string; readonly version: string } | undefined;

/** Asks each git that can work here once, for as long as its file stays as it is. */
async function versionOf({ binary }: GitPorts, git: Git, call: GitCall): Promise<string> {
  const path = await binary();
  const { ino, size, mtimeMs } = await stat(path);
  const program = `${path} ${ino} ${size} ${mtimeMs}`;
  if (asked?.program === program) return asked.version;
  const version = (await git.text(['--version'], call)).replace(/^git version /, '');
  if (isTooOld(parseGitVersion(version)))
    throw wrongEnvironment(`git ${version} cannot integrate work: squad needs 2.38`, 'Update git, to 2.43.7 or newer.');
  asked = { program, version };
  return version;
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
    throw notARepository(`git cannot list the changes in ${root}: ${oneLine(stderr)}`, 'Run `git status` there.');
  return splitEntries(stdout).map((entry) => entry.slice(3));
}

function named(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return `${names.slice(0, NAMED).join(', ')}${more}`;
}

/** Whether the last of these entries sets a key to true. */
function isSet(entries: readonly ConfigEntry[], key: string): boolean {
  return /^(?:true|yes|on|[1-9]\d*)$/i.test(entries.findLast((entry) => entry.key === key)?.value ?? '');
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

/** How the user's own commits differ from those that agents make. None of this stops a run. */
async function commitWarnings(
  ports: GitPorts,
  { root, commonDirectory }: Pick<Repository, 'root' | 'commonDirectory'>,
  configuration: Promise<readonly ConfigEntry[]>,
): Promise<readonly (RepositoryWarning | undefined)[]> {
  const entries = await configuration;
  const set = entries.findLast(({ key }) => key === 'core.hookspath')?.value ?? '';
  const path = set.replace(/^~(?=\/)/, () => absolutePath(ports.environment['HOME']) ?? '~');
  const folder = path === '' ? resolve(commonDirectory, 'hooks') : resolve(root, path);
  const hooks = await hooksIn(folder);
  const { name, email } = SQUAD_IDENTITY;
  return [
    warn(
      decideIdentity(entries, ports.environment) === undefined,
      'identity',
      `git has no name and e-mail address for you: agents commit as ${name} <${email}>`,
      'Set them with `git config --global user.name …` and `git config --global user.email …`.',
    ),
    warn(
      isSet(entries, 'commit.gpgsign'),
      'signing',
      'git signs your commits (commit.gpgSign); commits by agents and squad are not signed, because they have no key',
      'Sign what you merge, with `git merge -S`.',
    ),
    warn(
      hooks.length > 0,
      'hooks',
      `no hook runs for agents or squad; ${folder} has ${hooks.join(', ')}`,
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

/** git opens these for every command. */
const OPENED = ['HEAD', 'config', 'packed-refs', 'info', 'refs', 'objects'];

/** Throws, with its name, where a pipe, a socket or a device is in the place of a ref or an object: each git would wait there for ever. */
function requirePlainStore(path: string): void {
  const directory = commonDirectoryAt(path);
  if (directory === undefined) return;
  for (const name of OPENED) {
    const [odd] = findOddEntries(join(directory, name), { links: false });
    if (odd === undefined) continue;
    const shown = plainLine(odd.path, 1_000);
    throw wrongEnvironment(
      `${shown} is ${odd.kind}, and git would wait there for ever`,
      `Remove it with \`rm ${shellWord(shown)}\`. Then \`git fsck\` names what the repository misses.`,
    );
  }
}

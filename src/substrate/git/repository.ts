import { lstatSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isSquadError, SquadError } from '../../model/errors.ts';
import { limitByWords } from '../../model/machine-limit.ts';
import { absolutePath } from '../../text/absolute-path.ts';
import { isWithin } from '../system/files/confine.ts';
import { foreignOwner } from '../system/files/owner.ts';
import { readPlainSync } from '../system/files/read-plain.ts';
import { realPath } from '../system/files/real-path.ts';
import { explainHead, explainPlace, isNowhere, type PlaceFacts } from './explain-place.ts';
import {
  createGit,
  type Git,
  type GitAnswer,
  type GitCall,
  type GitPorts,
  identityVariables,
  isCommitId,
  oneLine,
  requireName,
} from './git-call.ts';
import { plainCheckout } from './plain-checkout.ts';
import { isBookkeeping } from './run-repository.ts';

/** A checkout that the user works in. squad only reads its branch, index, tree and config. */
export interface Checkout {
  /** Its top-level folder. */
  readonly root: string;
  /** The git directory that all checkouts share. */
  readonly commonDirectory: string;
}

/** A checkout with a commit, from which agents can start. */
export interface Repository extends Checkout {
  readonly head: string;
  /** The git directory of this checkout alone. */
  readonly gitDirectory: string;
  /** The branch that is checked out; undefined: HEAD is detached. */
  readonly branch: string | undefined;
  readonly shallow: boolean;
}

const HEAD = 'HEAD^{commit}';
const KIND = ['--is-bare-repository', '--is-inside-git-dir', '--is-shallow-repository'];
const PLACES = ['--path-format=absolute', '--show-toplevel', '--git-common-dir', '--git-dir'];
const TARGET = ['--symbolic-full-name', 'HEAD'];

interface FolderAnswer {
  readonly answer: GitAnswer;
  readonly bare: boolean;
  /** The folder is a git directory, or in one. */
  readonly insideGit: boolean;
  readonly shallow: boolean;
  /**
   * Root, common and own git directory, the commit of HEAD and its target (`HEAD`: it is detached); without the last two if there is no
   * commit, and without the target where another ref is named HEAD.
   */
  readonly lines: readonly string[];
}

async function askAbout(ports: GitPorts, path: string): Promise<FolderAnswer> {
  const git = createGit(ports);
  const call = { cwd: path };
  const answer = await git.run(['rev-parse', ...KIND, ...PLACES, HEAD, ...TARGET], call);
  const said = answer.stdout.trim().split('\n');
  const [bare, insideGit, shallow, ...lines] = said;
  if (answer.code === 0 && ![bare, insideGit, shallow].every((word) => word === 'true' || word === 'false')) {
    const binary = await ports.binary();
    throw notARepository(
      `${binary} does not answer as git does: it printed ${JSON.stringify(oneLine(answer.stdout).slice(0, 100))}`,
      'If it is a program of yours that starts git, let it print nothing else on standard output.',
    );
  }
  return {
    answer,
    bare: bare === 'true',
    insideGit: insideGit === 'true',
    shallow: shallow === 'true',
    // git repeats a revision that does not exist.
    lines: lines.filter((line) => line !== HEAD),
  };
}

/** undefined: it is detached. */
async function targetOfHead(git: Git, call: GitCall): Promise<string | undefined> {
  const { code, stdout } = await git.run(['symbolic-ref', '--quiet', 'HEAD'], call);
  return code === 0 ? stdout.trim() : undefined;
}

/** The repository at or above a folder. Throws `not-a-repository`, with its cause and the next command. */
export async function openRepository(ports: GitPorts, path: string): Promise<Repository> {
  const asked = await askAbout(ports, path);
  const checkout = checkoutOf(ports, asked, path);
  const { root, commonDirectory } = checkout;
  const [, , gitDirectory = commonDirectory, head = '', target] = asked.lines;
  if (!isCommitId(head)) throw await withoutCommit(ports, asked, root);
  const branch = branchOf(target ?? (await targetOfHead(createGit(ports), { cwd: root })));
  return { ...checkout, gitDirectory, head, branch, shallow: asked.shallow };
}

/** The checkout at or above a folder, with or without a commit. Throws `not-a-repository`, with its cause and the next command. */
export async function openCheckout(ports: GitPorts, path: string): Promise<Checkout> {
  const plain = plainCheckout(path);
  if (plain !== undefined) return { root: plain.root, commonDirectory: plain.gitDirectory };
  return checkoutOf(ports, await askAbout(ports, path), path);
}

const BRANCHES = 'refs/heads/';

function branchOf(ref: string | undefined): string | undefined {
  return ref?.startsWith(BRANCHES) === true && ref !== BRANCHES ? ref.slice(BRANCHES.length) : undefined;
}

function checkoutOf(ports: GitPorts, { answer, bare, insideGit, lines }: FolderAnswer, path: string): Checkout {
  const [root, commonDirectory, gitDirectory] = lines;
  if (lines.length > (answer.code === 0 ? 5 : 3)) {
    throw notARepository(
      `the path of the checkout at ${path} has a line break in it`,
      'Move the repository to a path without one.',
    );
  }
  const isWhole = root !== undefined && commonDirectory !== undefined && isAbsolute(root) && !bare && !insideGit;
  // With core.worktree the checkout can be anywhere.
  if (isWhole && isWithin(realPath(root) ?? root, realPath(path) ?? path)) {
    return { root, commonDirectory };
  }
  const { stderr, problem } = answer;
  const limit = limitByWords(problem ?? '', answer);
  if (limit !== undefined) throw limit;
  const facts = { ...lookAround(ports, path), ...{ stderr, problem, bare, insideGit, root, gitDirectory } };
  const { message, next } = explainPlace(facts);
  const error = notARepository(message, next);
  if (isNowhere(facts)) nowhere.add(error);
  throw error;
}

const nowhere = new WeakSet<object>();

/** Whether an error says that there is no repository at all, so that nothing is wrong with one. */
export function isOutsideRepositories(error: unknown): boolean {
  return typeof error === 'object' && error !== null && nowhere.has(error);
}

/** HEAD is no commit: git is asked what it is instead. */
async function withoutCommit(ports: GitPorts, { answer }: FolderAnswer, root: string): Promise<SquadError> {
  const git = createGit(ports);
  const call = { cwd: root };
  const [ref, id, others] = await Promise.all([
    targetOfHead(git, call),
    // The id alone: whether there is such a commit is another question.
    git.run(['rev-parse', '--verify', '--quiet', 'HEAD'], call),
    git.run(['for-each-ref', '--count=1', '--format=%(refname:strip=2)', BRANCHES], call),
  ]);
  const { message, next } = explainHead({
    ...{ root, stderr: answer.stderr, isHome: isHome(ports.environment, root), branch: branchOf(ref) },
    id: id.code === 0 ? id.stdout.trim() : undefined,
    other: others.stdout.trim() || undefined,
  });
  return notARepository(message, next);
}

export function notARepository(message: string, next: string): SquadError {
  return new SquadError({ code: 'not-a-repository', message, next });
}

/** A ref that keeps the work of an attempt, delivered or not. */
interface KeptWork {
  /** `refs/squad/<run>/<attempt>` */
  readonly ref: string;
  readonly commit: string;
}

/** The refs that keep a run's attempts in the repository at `root`. Empty if git fails, so that status and report still work. */
export async function listKeptWork(ports: GitPorts, root: string, run: string): Promise<readonly KeptWork[]> {
  const args = ['for-each-ref', '--format=%(refname) %(objectname)', `refs/squad/${requireName(run)}/`];
  try {
    const listing = await createGit(ports).text(args, { cwd: root });
    return listing.split('\n').flatMap((line) => {
      const [ref, commit] = line.split(' ');
      return ref === undefined || commit === undefined || isBookkeeping(ref) ? [] : [{ ref, commit }];
    });
  } catch (error) {
    if (isSquadError(error)) return [];
    throw error;
  }
}

const DEMO_IDENTITY = { name: 'squad demo', email: 'demo@squad.invalid' };

/** A new repository with these files in one commit, and an identity of its own. The folder must be new or empty. */
export async function createRepository(
  ports: GitPorts,
  path: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(path, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text, { flag: 'wx' });
  const git = createGit(ports);
  const call = { cwd: path, environment: identityVariables(DEMO_IDENTITY) };
  await git.text(['init', '--quiet', '--initial-branch=main'], call);
  await git.text(['config', 'user.name', DEMO_IDENTITY.name], call);
  await git.text(['config', 'user.email', DEMO_IDENTITY.email], call);
  await git.text(['add', '--all'], call);
  await git.text(['commit', '--quiet', '--message', 'The state before the squad came'], call);
}

/** Runs no git, because git does not accept the folder. */
function lookAround(
  { environment }: Pick<GitPorts, 'environment'>,
  path: string,
): Pick<PlaceFacts, 'path' | 'isThere' | 'isHome' | 'dotGit' | 'owner' | 'variables'> {
  const dotGit = findDotGit(realPath(path) ?? path);
  const owner = foreignOwner(dotGit?.path ?? path) ?? foreignOwner(dirname(dotGit?.path ?? path));
  const { GIT_DIR, GIT_WORK_TREE } = environment;
  return {
    path,
    isThere: statSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
    isHome: isHome(environment, path),
    dotGit,
    owner,
    variables: { GIT_DIR, GIT_WORK_TREE },
  };
}

/** Whether the folder is the person's home or above it, so that all of the home's files would be in it. */
function isHome(environment: GitPorts['environment'], path: string): boolean {
  const home = absolutePath(environment['HOME']);
  return home !== undefined && isWithin(realPath(path) ?? path, realPath(home) ?? home);
}

function findDotGit(start: string): PlaceFacts['dotGit'] {
  for (let folder = start; ; folder = dirname(folder)) {
    const path = join(folder, '.git');
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined) return { path, pointsTo: found.isFile() ? pointedTo(path) : undefined };
    if (dirname(folder) === folder) return undefined;
  }
}

/** Where a `.git` file says that the git directory is, if nothing is there. */
function pointedTo(path: string): string | undefined {
  try {
    const named = /^gitdir: (.+)$/m.exec(readPlainSync(path))?.[1];
    const target = named === undefined ? undefined : resolve(dirname(path), named);
    return target === undefined || statSync(target, { throwIfNoEntry: false }) !== undefined ? undefined : target;
  } catch {
    return undefined;
  }
}

import { mkdir, writeFile } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { sha256Of } from '../../model/sha256.ts';
import { isSquadError, SquadError } from '../../model/errors.ts';
import {
  createGit,
  type GitAnswer,
  type GitPorts,
  identityVariables,
  isCommitId,
  oneLine,
  requireName,
} from './git-call.ts';
import { plainCheckout } from './plain-checkout.ts';
import { isPin } from './run-repository.ts';

/** A checkout that the user works in. squad only reads its branch, index, tree and config. */
export interface Checkout {
  /** Its top-level folder. */
  readonly root: string;
  /** The git directory that all checkouts share. */
  readonly commonDirectory: string;
  /** Name of the repository's folder in the state directory: its own name and a hash of its path. */
  readonly key: string;
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

/** What git says about a folder, in one call. */
export interface FolderAnswer {
  readonly answer: GitAnswer;
  readonly bare: boolean;
  /** The folder is a git directory, or in one. */
  readonly insideGit: boolean;
  readonly shallow: boolean;
  /** Root, common and own git directory, commit and ref of HEAD; without the last two if there is no commit yet. */
  readonly lines: readonly string[];
}

export async function askAbout(ports: GitPorts, path: string): Promise<FolderAnswer> {
  const args = ['rev-parse', ...KIND, ...PLACES, HEAD, '--symbolic-full-name', 'HEAD'];
  const answer = await createGit(ports).run(args, { cwd: path });
  const [bare, insideGit, shallow, ...lines] = answer.stdout.trim().split('\n');
  return {
    answer,
    bare: bare === 'true',
    insideGit: insideGit === 'true',
    shallow: shallow === 'true',
    // git repeats a revision that does not exist.
    lines: lines.filter((line) => line !== HEAD),
  };
}

/** The repository at or above a folder. Throws `not-a-repository`, with the next command, if it is missing or has no commit. */
export async function openRepository(ports: GitPorts, path: string): Promise<Repository> {
  return repositoryOf(await askAbout(ports, path), path);
}

/** The same from an answer about the folder at `path`. */
export function repositoryOf(asked: FolderAnswer, path: string): Repository {
  const checkout = checkoutOf(asked, path);
  const { root, commonDirectory } = checkout;
  const [, , gitDirectory = commonDirectory, head = '', ref = ''] = asked.lines;
  if (!isCommitId(head)) {
    throw notARepository(
      `${root} has no commit yet, so there is nothing for an agent to start from`,
      `Make one: \`git -C ${root} add -A && git -C ${root} commit -m "first"\`.`,
    );
  }
  const branch = ref === 'HEAD' ? undefined : ref.replace(/^refs\/(?:heads\/)?/, '');
  return { ...checkout, gitDirectory, head, branch, shallow: asked.shallow };
}

/** The checkout at or above a folder, with or without a commit. Throws `not-a-repository` with the next command. */
export async function openCheckout(ports: GitPorts, path: string): Promise<Checkout> {
  const plain = plainCheckout(path);
  if (plain !== undefined) return { root: plain.root, commonDirectory: plain.gitDirectory, key: keyOf(plain.root) };
  return checkoutOf(await askAbout(ports, path), path);
}

function checkoutOf({ answer, lines }: FolderAnswer, path: string): Checkout {
  const [root, commonDirectory] = lines;
  if (lines.length > (answer.code === 0 ? 5 : 3)) {
    throw notARepository(
      `the path of the checkout at ${path} has a line break in it`,
      'Move the repository to a path without one.',
    );
  }
  if (root === undefined || commonDirectory === undefined || !isAbsolute(root)) {
    throw notARepository(
      `${path} is not in a git checkout: ${answer.problem ?? oneLine(answer.stderr)}`,
      'Run squad in a repository, or make one: `git init && git add -A && git commit -m "first"`.',
    );
  }
  return { root, commonDirectory, key: keyOf(root) };
}

export function notARepository(message: string, next: string): SquadError {
  return new SquadError({ code: 'not-a-repository', message, next });
}

function keyOf(root: string): string {
  const name = basename(root)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 24);
  return `${name || 'repository'}-${sha256Of(root).slice(0, 8)}`;
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
      return ref === undefined || commit === undefined || isPin(ref) ? [] : [{ ref, commit }];
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

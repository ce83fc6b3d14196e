import { createHash } from 'node:crypto';
import { basename, isAbsolute } from 'node:path';
import { SquadError } from '../../model/errors.ts';
import { gitEnvironment, hardenedArguments, type GitPorts } from './git-call.ts';

const GIT_TIMEOUT_MS = 60_000;

/** A checkout the user works in. squad only reads its branch, index, tree and config. */
export interface Checkout {
  /** Its top-level folder. */
  readonly root: string;
  /** The git directory that all worktrees share. */
  readonly commonDirectory: string;
  /** Names the repository's folder below the state directory: its own name and a hash of its path. */
  readonly key: string;
}

/** A checkout with a commit, which agents can start from. */
export interface Repository extends Checkout {
  readonly head: string;
}

/** The repository at or above a folder. Throws `not-a-repository`, with the next command, if it is missing or has no commit. */
export async function openRepository(ports: GitPorts, path: string): Promise<Repository> {
  const checkout = await openCheckout(ports, path);
  const { root } = checkout;
  const head = await git(ports, root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  if (head.code !== 0) {
    throw new SquadError({
      code: 'not-a-repository',
      message: `${root} has no commit yet, so there is nothing for an agent to start from`,
      next: `Make one: \`git -C ${root} add -A && git -C ${root} commit -m "first"\`.`,
    });
  }
  return { ...checkout, head: head.stdout.trim() };
}

/** The checkout at or above a folder, with or without a commit. Throws `not-a-repository` with the next command. */
export async function openCheckout(ports: GitPorts, path: string): Promise<Checkout> {
  const found = await git(ports, path, ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir']);
  const [root, commonDirectory, ...more] = found.stdout.trim().split('\n');
  if (more.length > 0) {
    throw new SquadError({
      code: 'not-a-repository',
      message: `the path of the checkout at ${path} has a line break in it`,
      next: 'Move the repository to a path without one.',
    });
  }
  if (found.code !== 0 || root === undefined || commonDirectory === undefined || !isAbsolute(root)) {
    throw new SquadError({
      code: 'not-a-repository',
      message: `${path} is not in a git checkout: ${found.problem ?? found.stderr.trim()}`,
      next: 'Run squad in a repository, or make one: `git init && git add -A && git commit -m "first"`.',
    });
  }
  return { root, commonDirectory, key: keyOf(root) };
}

async function git(ports: GitPorts, cwd: string, args: readonly string[]) {
  return ports.processes.run(await ports.binary(), [...hardenedArguments('/dev/null'), ...args], {
    cwd,
    env: gitEnvironment(ports.environment),
    timeoutMs: GIT_TIMEOUT_MS,
  });
}

function keyOf(root: string): string {
  const name = basename(root)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 24);
  return `${name || 'repository'}-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`;
}

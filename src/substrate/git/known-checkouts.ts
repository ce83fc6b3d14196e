import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isSquadError } from '../../model/errors.ts';
import { createGit, splitEntries, type GitPorts } from './git-call.ts';
import { callOn } from './git-context.ts';
import { openCheckout, type Checkout } from './repository.ts';

/** The checkouts that share a git directory. */
export async function checkoutsOf(ports: GitPorts, commonDirectory: string): Promise<readonly Checkout[]> {
  const listed = await createGit(ports).run(['worktree', 'list', '--porcelain', '-z'], callOn(commonDirectory));
  const paths = splitEntries(listed.stdout).flatMap((line) => /^worktree (.+)$/s.exec(line)?.[1] ?? []);
  const checkouts: Checkout[] = [];
  for (const path of new Set([...paths, dirname(commonDirectory)])) {
    const checkout = await openQuietly(ports, path);
    const isNew = checkouts.every(({ root }) => root !== checkout?.root);
    if (checkout?.commonDirectory === commonDirectory && isNew) checkouts.push(checkout);
  }
  return checkouts;
}

/** The checkouts whose runs have a folder in squad's state folder, and those folders whose checkout is not to be found. */
export async function findKnownCheckouts(
  ports: GitPorts,
  stateDirectory: string,
): Promise<{ readonly checkouts: readonly Checkout[]; readonly lost: readonly string[] }> {
  const checkouts = new Map<string, Checkout>();
  const lost: string[] = [];
  for (const key of await namesIn(stateDirectory)) {
    if (!/-[0-9a-f]{8}$/.test(key)) continue;
    const found = await checkoutsFor(ports, join(stateDirectory, key));
    // The key proves that it is this one, because it is made of the path.
    if (!found.some((checkout) => checkout.key === key)) lost.push(key);
    else for (const checkout of found) checkouts.set(checkout.root, checkout);
  }
  return { checkouts: [...checkouts.values()], lost };
}

/** By the objects that the runs' own repositories borrow. */
async function checkoutsFor(ports: GitPorts, folder: string): Promise<readonly Checkout[]> {
  const directories = new Set<string>();
  for (const run of await namesIn(folder)) {
    const borrowed = join(folder, run, '.squad', 'run.git', 'objects', 'info', 'alternates');
    const [store = ''] = (await readFile(borrowed, 'utf8').catch(() => '')).split('\n');
    if (store.startsWith('/') && basename(store) === 'objects') directories.add(dirname(store));
  }
  const found = await Promise.all([...directories].map((directory) => checkoutsOf(ports, directory)));
  return found.flat();
}

async function openQuietly(ports: GitPorts, path: string): Promise<Checkout | undefined> {
  try {
    return await openCheckout(ports, path);
  } catch (error) {
    if (isSquadError(error)) return undefined;
    throw error;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names: string[] = await readdir(folder).catch(() => []);
  return names.toSorted();
}

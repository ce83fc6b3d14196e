import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isSquadError } from '../../model/errors.ts';
import { boundPlace, isBoundTo, isStateId } from '../system/files/state-place.ts';
import { createGit, splitEntries, type GitPorts } from './git-call.ts';
import { callOn } from './git-context.ts';
import { openCheckout, type Checkout } from './repository.ts';

/** The checkouts that share a git directory. */
export async function checkoutsOf(ports: GitPorts, commonDirectory: string): Promise<readonly Checkout[]> {
  const args = ['worktree', 'list', '--porcelain', '-z'];
  const listed = await quietly(async () => createGit(ports).run(args, callOn(commonDirectory)));
  const paths = splitEntries(listed?.stdout ?? '').flatMap((line) => /^worktree (.+)$/s.exec(line)?.[1] ?? []);
  const checkouts: Checkout[] = [];
  for (const path of new Set([...paths, dirname(commonDirectory)])) {
    const checkout = await quietly(async () => openCheckout(ports, path));
    const isNew = checkouts.every(({ root }) => root !== checkout?.root);
    if (checkout?.commonDirectory === commonDirectory && isNew) checkouts.push(checkout);
  }
  return checkouts;
}

/** The state of a repository that is not where it was last used. */
export interface LostState {
  readonly id: string;
  readonly directory: string;
  /** Its git directory, as it was last used. */
  readonly from: string;
}

/** The checkouts of all repositories that have a place in squad's state folder, and the places whose repository is gone. */
export async function findKnownCheckouts(
  ports: GitPorts,
  stateDirectory: string,
): Promise<{ readonly checkouts: readonly Checkout[]; readonly lost: readonly LostState[] }> {
  const checkouts = new Map<string, Checkout>();
  const lost = await findLostStates(stateDirectory);
  const gone = new Set(lost.map(({ id }) => id));
  for (const id of await statesIn(stateDirectory)) {
    const from = boundPlace(join(stateDirectory, id));
    if (from === undefined || gone.has(id)) continue;
    for (const checkout of await checkoutsOf(ports, from)) checkouts.set(checkout.root, checkout);
  }
  return { checkouts: [...checkouts.values()], lost };
}

/** Places in the state folder whose repository is not where it was: it is gone, or was moved and not used since. */
export async function findLostStates(stateDirectory: string): Promise<LostState[]> {
  return (await statesIn(stateDirectory)).flatMap((id) => {
    const directory = join(stateDirectory, id);
    const from = boundPlace(directory);
    return from === undefined || isBoundTo(directory, from) ? [] : [{ id, directory, from }];
  });
}

async function statesIn(stateDirectory: string): Promise<readonly string[]> {
  return (await namesIn(stateDirectory)).filter((name) => isStateId(name));
}

/** undefined: nothing to work with is there. */
async function quietly<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (isSquadError(error)) return undefined;
    throw error;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names: string[] = await readdir(folder).catch(() => []);
  return names.toSorted();
}

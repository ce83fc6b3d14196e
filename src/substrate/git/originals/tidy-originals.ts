import { wrongEnvironment } from '../../../model/errors.ts';
import { deleteFolder } from '../../system/files/remove-tree.ts';
import type { GitContext } from '../git-context.ts';
import { freeBytes, wantedOf } from '../spare/spare-pool.ts';
import {
  claimKept,
  listKept,
  offer,
  originalsOf,
  readKept,
  usedAt,
  type Kept,
  type KeptNote,
} from './original-pool.ts';
import { makeCopy } from './reuse-made.ts';
import { wanted } from './wanted.ts';

/** Copies that wait for the next folders. Each takes as much of the disk as the original, where content cannot be shared. */
const MOST_READY = 2;
/** For each command: another branch has its own. */
const MOST_ORIGINALS = 3;

/**
 * Does one piece of what is left to do: deletes what nothing needs any more, or makes a copy for the next folder. false: nothing is left.
 * Several processes may do this at once.
 */
export async function tidyOriginals(context: GitContext): Promise<boolean> {
  const all = listKept(context);
  if (all.length === 0) return false;
  const isShort = freeBytes(context.runsDirectory) < wantedOf(context).free;
  const useless = all.find(({ state, isFree }) => isFree && (state === 'old' || state === 'work'));
  const gone = useless ?? surplus(context, all, isShort);
  if (gone !== undefined) {
    const own = claimKept(context, gone);
    return own === undefined || (await deleteFolder(own)) === undefined;
  }
  return !isShort && makeReady(context, all);
}

interface Known extends Kept, KeptNote {}

function known(all: readonly Kept[], state: Kept['state']): readonly Known[] {
  return all.flatMap((entry) => {
    const note = entry.state === state ? readKept(entry.path) : undefined;
    return note === undefined ? [] : [{ ...entry, ...note }];
  });
}

/** An original or a copy that is one too many, or is not whole. */
function surplus(context: GitContext, all: readonly Kept[], isShort: boolean): Kept | undefined {
  const broken = all.find(({ state, path }) => state !== 'work' && state !== 'old' && readKept(path) === undefined);
  const [originals, copies] = [known(all, 'original'), known(all, 'copy')];
  const keys = new Set(wanted(context).keys.values());
  const isUseful = ({ key }: KeptNote): boolean =>
    originals.some((one) => one.key === key) && (keys.size === 0 || keys.has(key));
  const ofKey = Map.groupBy(copies.filter(isUseful), ({ key }) => key);
  const many = [...ofKey.values()].flatMap((some) => some.slice(isShort ? 0 : MOST_READY));
  const byStep = Map.groupBy(originals, ({ step }) => step);
  const older = [...byStep.values()].flatMap((some) =>
    some.toSorted((one, other) => usedAt(other.path) - usedAt(one.path)).slice(isShort ? 1 : MOST_ORIGINALS),
  );
  return broken ?? copies.find((one) => !isUseful(one)) ?? many[0] ?? older[0];
}

async function makeReady(context: GitContext, all: readonly Kept[]): Promise<boolean> {
  const copies = known(all, 'copy');
  const few = [...wanted(context).keys.values()].find(
    (key) => copies.filter((one) => one.key === key).length < MOST_READY,
  );
  const own = few === undefined ? undefined : await makeCopy(context, few, false);
  if (own !== undefined) offer(context, own, 'copy');
  return own !== undefined;
}

/** Deletes all of them. Returns how many there are (`dryRun`) or were. */
export async function dropOriginals(context: GitContext, dryRun: boolean): Promise<number> {
  const found = listKept(context).length;
  const problem = found === 0 || dryRun ? undefined : await deleteFolder(originalsOf(context));
  if (problem !== undefined) throw wrongEnvironment(`what setup made cannot be deleted: ${problem}`);
  return found;
}

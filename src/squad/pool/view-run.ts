import { join } from 'node:path';
import { mkdir, readdir, stat } from 'node:fs/promises';
import type { Host } from '../../engine/machine.ts';
import { createGit } from '../../substrate/git/git-call.ts';
import type { PoolRun, PoolStore } from '../../substrate/ports/pool.ts';
import { deleteFolder } from '../../substrate/system/files/remove-tree.ts';
import { adoptState } from '../adopt-state.ts';
import { openWorkspace, type Place } from '../open-workspace.ts';
import { stateIn } from '../moving/take-over.ts';
import { layOutBundle, takeHere } from './replica.ts';
import { placeIn } from './run-place.ts';
import { dropTaken, isLeft, noteRefs } from './taken-refs.ts';

/** A run of the pool as it was stored last. */
export interface RunView {
  /** This machine, seen from where the run is. */
  readonly host: Host;
  /** Removes it, with the refs of its runs that came into the repository meanwhile. */
  close(): Promise<void>;
}

/**
 * `apart`: in a repository without commits, for what the records say. `here`: in the repository of the caller, with the run’s commits; its own
 * runs stay as they are. `makes`: a run that will be made of it.
 */
export async function viewRun(
  { host, store }: { readonly host: Host; readonly store: PoolStore },
  run: PoolRun,
  where: 'apart' | 'here',
  makes: readonly string[] = [],
): Promise<RunView> {
  const views = join(host.stateDirectory, 'pool-views');
  const folder = join(views, `${run.id}-${host.pid}`);
  const [checkout, scratch] = [join(folder, 'checkout'), join(folder, 'parts')];
  const place = placeIn(host, where === 'here' ? host.workingDirectory : checkout, join(folder, 'state'));
  await dropOld(views, run.id, place);
  await mkdir(checkout, { recursive: true, mode: 0o700 });
  if (where === 'here') {
    const { repository, composition } = await openWorkspace(place);
    await noteRefs(composition.git, repository.commonDirectory, { folder, runs: [run.name, ...makes] });
    await takeHere(place, { store, run, scratch });
  } else {
    await createGit(place.composition.git).text(['init', '--quiet', '--template=', checkout], { cwd: checkout });
    await layOutBundle(store, run, scratch);
    await adoptState(place, stateIn(scratch));
  }
  await deleteFolder(scratch);
  return { host: place.host, close: async () => drop(place, folder) };
}

async function drop({ composition }: Required<Place>, folder: string): Promise<void> {
  await dropTaken(composition.git, folder);
  await deleteFolder(folder);
}

/** Longer than a command looks at one, and long enough to merge a branch whose merge was refused. */
const OLD_MS = 3_600_000;

/** Removes the views of killed and refused commands: of this run, and of others after a while. */
async function dropOld(views: string, id: string, place: Required<Place>): Promise<void> {
  for (const one of await readdir(views).catch(() => [])) {
    const folder = join(views, one);
    const made = await stat(folder).catch(() => undefined);
    if (made === undefined || !(await isLeft(folder))) continue;
    if (one.startsWith(`${id}-`) || Date.now() - made.mtimeMs > OLD_MS) await drop(place, folder);
  }
}

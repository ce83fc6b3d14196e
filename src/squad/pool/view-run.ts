import { join } from 'node:path';
import { mkdir, readdir, stat } from 'node:fs/promises';
import type { Host } from '../../engine/machine.ts';
import { createGit } from '../../substrate/git/git-call.ts';
import type { PoolRun, PoolStore } from '../../substrate/ports/pool.ts';
import { deleteFolder } from '../../substrate/system/files/remove-tree.ts';
import { adoptState } from '../adopt-state.ts';
import { stateIn } from '../moving/take-over.ts';
import { layOutBundle, takeHere } from './replica.ts';
import { placeIn } from './run-place.ts';

/**
 * This machine, seen from where a run of the pool is as it was stored last. `apart`: in a repository without commits, for what the records
 * say. `here`: in the repository of the caller, with the run’s commits; its own runs stay as they are.
 */
export async function viewRun(
  { host, store }: { readonly host: Host; readonly store: PoolStore },
  run: PoolRun,
  where: 'apart' | 'here',
): Promise<Host> {
  const views = join(host.stateDirectory, 'pool-views');
  await dropOld(views);
  const folder = join(views, `${run.id}-${host.pid}`);
  await deleteFolder(folder);
  const [checkout, scratch] = [join(folder, 'checkout'), join(folder, 'parts')];
  const place = placeIn(host, where === 'here' ? host.workingDirectory : checkout, join(folder, 'state'));
  await mkdir(checkout, { recursive: true, mode: 0o700 });
  if (where === 'here') await takeHere(place, { store, run, scratch });
  else {
    await createGit(place.composition.git).text(['init', '--quiet', '--template=', checkout], { cwd: checkout });
    await layOutBundle(store, run, scratch);
    await adoptState(place, stateIn(scratch));
  }
  await deleteFolder(scratch);
  return place.host;
}

/** Longer than a command looks at one. */
const OLD_MS = 3_600_000;

async function dropOld(views: string): Promise<void> {
  for (const name of await readdir(views).catch(() => [])) {
    const made = await stat(join(views, name)).catch(() => undefined);
    if (made !== undefined && Date.now() - made.mtimeMs > OLD_MS) await deleteFolder(join(views, name));
  }
}

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compose, type Host } from '../../engine/compose.ts';
import { forgePortsOf } from '../../engine/machine.ts';
import { sha256Of } from '../../model/sha256.ts';
import { checkoutRun, fetchMirror } from '../../substrate/git/mirror.ts';
import type { PoolRun } from '../../substrate/ports/pool.ts';
import { deleteFolder } from '../../substrate/system/files/remove-tree.ts';
import { briefly } from '../../substrate/system/process/brief-lock.ts';
import type { Place } from '../open-workspace.ts';
import { aboutSchema } from './about.ts';

/** A first fetch of a large repository, while other runs of it wait. */
const MIRROR_MS = 600_000;

/** A checkout of the run’s base that shares its objects with other runs of the repository, and a state folder of its own. */
export async function makePlace(
  host: Host,
  repos: string,
  { repository: url, base, about }: PoolRun,
  folder: string,
): Promise<Required<Place>> {
  await deleteFolder(folder);
  const checkout = join(folder, 'checkout');
  const place = placeIn(host, checkout, join(folder, 'state'));
  const ports = forgePortsOf(place);
  const mirrors = join(repos, 'mirrors');
  await mkdir(mirrors, { recursive: true, mode: 0o700 });
  const mirror = join(mirrors, `${sha256Of(url).slice(0, 16)}.git`);
  await briefly(`${mirror}.lock`, async () => fetchMirror(ports, mirror, { url, base }), MIRROR_MS);
  const { branch } = aboutSchema.parse(about);
  await checkoutRun(ports, { mirror, folder: checkout, url, base, branch });
  return place;
}

/** This machine, seen from a checkout whose runs have a state folder of their own. */
export function placeIn(host: Host, checkout: string, stateDirectory: string): Required<Place> {
  const environment = { ...host.environment, SQUAD_STATE: stateDirectory };
  const there: Host = { ...host, environment, workingDirectory: checkout, stateDirectory };
  return { host: there, composition: compose(there) };
}

import { readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlain } from '../files/read-plain.ts';
import { storesBehind } from '../files/object-stores.ts';
import { folderPath, notePath, type GitContext, type RunRepository } from './git-context.ts';
import { isFolder, put, storesOf } from './git-directory.ts';

/**
 * Names the object stores again that a run's repository and its folders borrow from, after the user's repository, the state folder or
 * both were moved. The note of what they borrow from comes last, because it tells that something is left to do.
 */
export async function followMove(context: GitContext, repository: RunRepository): Promise<void> {
  const { run, directory, linked } = repository;
  const users = join(context.commonDirectory, 'objects');
  const [, ...behind] = await storesBehind(users);
  const stores = linesOf(await storesOf(context, repository));
  const known = notePath(context, run, 'stores');
  const text = stores + linesOf(behind);
  await replace(join(directory, 'objects', 'info', 'alternates'), linesOf([users]));
  if ((await readPlain(known).catch(() => undefined)) === text) return;
  for (const name of await readdir(notePath(context, run, ''))) {
    const task = /^(.+)\.json$/.exec(name)?.[1];
    const own = task === undefined ? undefined : join(folderPath(context, run, task), '.git');
    if (task === undefined || own === undefined || !(await isFolder(own))) continue;
    await put(own, 'objects/info/alternates', stores, notePath(context, run, `${task}.put`));
  }
  if (await isFolder(linked)) await replace(join(linked, 'info', 'alternates'), linesOf(behind));
  await replace(known, text);
}

function linesOf(paths: readonly string[]): string {
  return paths.map((path) => `${path}\n`).join('');
}

async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

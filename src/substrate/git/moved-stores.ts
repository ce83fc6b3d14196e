import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { folderPath, notePath, type GitContext, type RunRepository } from './git-context.ts';
import { isFolder, put, storesOf } from './git-directory.ts';

/**
 * Names the object stores again that a run's repository and its folders borrow from, after the user's repository or the state folder
 * was moved. The run's repository comes last, because it tells that something is left to do.
 */
export async function followMove(context: GitContext, repository: RunRepository): Promise<void> {
  const { run, directory } = repository;
  const borrowed = join(directory, 'objects/info/alternates');
  const text = `${join(context.commonDirectory, 'objects')}\n`;
  if ((await readFile(borrowed, 'utf8').catch(() => undefined)) === text) return;
  const stores = (await storesOf(context, repository)).map((store) => `${store}\n`);
  for (const name of await readdir(notePath(context, run, ''))) {
    const task = /^(.+)\.json$/.exec(name)?.[1];
    const own = task === undefined ? undefined : join(folderPath(context, run, task), '.git');
    if (task === undefined || own === undefined || !(await isFolder(own))) continue;
    await put(own, 'objects/info/alternates', stores.join(''), notePath(context, run, `${task}.put`));
  }
  await writeFile(`${borrowed}.new`, text);
  await rename(`${borrowed}.new`, borrowed);
}

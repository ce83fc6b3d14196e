import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CopiedFile } from '../../model/copied-file.ts';
import type { GitContext } from './git-context.ts';
import { copiesNote, LEAST_BYTES, objectOf, type KnownCopy } from './known-copies.ts';
import { openRun } from './open-run.ts';
import { headOf } from './run-branch.ts';

/** Notes the files before the first of them is in a folder. `kept`: the folder with their contents. */
export async function noteCopies(
  context: GitContext,
  run: string,
  files: readonly CopiedFile[],
  kept: string,
): Promise<void> {
  const repository = await openRun(context, run);
  const hash = (await headOf(context, run))?.length === 64 ? 'sha256' : 'sha1';
  const noted: KnownCopy[] = [];
  for (const { path, bytes, hash: name } of files) {
    const known = { path: Buffer.from(path).toString('latin1'), bytes };
    const object = bytes < LEAST_BYTES ? undefined : await objectAt(hash, join(kept, name));
    const isPublic = object !== undefined && (await context.talk.find(object)) !== undefined;
    noted.push(isPublic || object === undefined ? known : { ...known, object });
  }
  const note = copiesNote(repository.directory);
  await writeFile(`${note}.new`, JSON.stringify(noted), { mode: 0o600 });
  await rename(`${note}.new`, note);
}

/** A content that is lost is put nowhere any more. */
async function objectAt(hash: 'sha1' | 'sha256', path: string): Promise<string | undefined> {
  const content = await readFile(path).catch(() => undefined);
  return content && objectOf(hash, content);
}

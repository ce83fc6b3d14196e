import { lstat, mkdir, open, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from './git-call.ts';
import type { MergeCalls } from './merge-calls.ts';
import { NOT_THERE, type RawChange } from './raw-diff.ts';
import type { Repository } from './repository.ts';

const CHUNK = 1 << 20;

/**
 * The paths of these changes where a git that was killed may have been at work: it removes the old file, and then writes the new one
 * from its first byte on. So nothing is there, or a beginning of the new file as git would write it.
 */
export async function listPartial(
  git: Git,
  { target, folder }: MergeCalls,
  { root, gitDirectory }: Pick<Repository, 'root' | 'gitDirectory'>,
  changes: readonly RawChange[],
): Promise<ReadonlySet<string>> {
  const written = changes.filter(({ newMode }) => newMode !== NOT_THERE);
  const [whole, input] = [join(folder, 'whole'), join(folder, 'partial')];
  await mkdir(whole);
  await writeFile(input, written.map(({ path }) => `${path}\0`).join(''));
  // In a checkout of its own, so that attributes are those of the merge.
  await git.text(['checkout-index', '-f', '-z', '--stdin'], {
    ...target,
    ...{ cwd: whole, gitDirectory, workTree: whole, input },
  });
  const found = new Set<string>();
  for (const { path } of written) if (await isBeginning(join(root, path), join(whole, path))) found.add(path);
  return found;
}

/** Nothing is a beginning too. */
async function isBeginning(path: string, whole: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return true;
  const wanted = await lstat(whole).catch(() => undefined);
  if (wanted?.isFile() !== true || !found.isFile() || found.size > wanted.size) return false;
  const [some, all] = await Promise.all([open(path), open(whole)]);
  try {
    for (let at = 0; at < found.size; at += CHUNK) {
      const length = Math.min(CHUNK, found.size - at);
      const [one, other] = await Promise.all([some, all].map(async (file) => bytesAt(file, at, length)));
      if (one === undefined || other === undefined || !one.equals(other)) return false;
    }
    return true;
  } finally {
    await Promise.all([some.close(), all.close()]);
  }
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position: at });
  return buffer.subarray(0, bytesRead);
}

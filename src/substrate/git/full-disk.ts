import { statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** With less than this, some file system or other writes no file any more. */
const NOTHING_LEFT = 256 * 1024;

/** Where a git works and writes. */
interface GitPlaces {
  readonly cwd: string;
  readonly gitDirectory?: string;
  readonly workTree?: string;
  readonly index?: string;
  readonly cage?: { readonly writable: readonly string[] };
}

const WRITES: ReadonlySet<string> = new Set(
  `add am apply branch checkout checkout-index clone commit commit-tree config fetch gc
   hash-object index-pack init merge merge-file merge-tree mktree pack-objects pack-refs push
   read-tree repack reset stash symbolic-ref tag unpack-objects update-index update-ref
   worktree write-tree`.split(/\s+/),
);

/** The command of git's arguments, past the settings before it. */
export function verbOf(args: readonly string[]): string {
  return args.find((item, index) => !item.startsWith('-') && args[index - 1] !== '-c') ?? 'git';
}

/**
 * The folder whose disk has no space left, where a git has failed that writes: of a full disk many of its messages say no word.
 * `temporary`: where its own files lie.
 */
export function findFullDisk(
  args: readonly string[],
  call: GitPlaces,
  temporary: string | undefined,
): string | undefined {
  if (!WRITES.has(verbOf(args))) return undefined;
  const { cwd, gitDirectory, workTree, index, cage } = call;
  const places = [gitDirectory, index && dirname(index), workTree, temporary, ...(cage?.writable ?? []), cwd];
  return places.find((place) => place !== undefined && isFull(resolve(cwd, place)));
}

function isFull(folder: string): boolean {
  try {
    const { bavail, bfree, bsize, files, ffree } = statfsSync(folder);
    // Only the superuser may use the reserved blocks.
    const blocks = process.getuid?.() === 0 ? bfree : bavail;
    return blocks * bsize < NOTHING_LEFT || (files > 0 && ffree === 0);
  } catch {
    // The folder is gone, and says nothing of a disk.
    return false;
  }
}

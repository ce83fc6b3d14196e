import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** More would hold up a start: what is behind them is not looked at. */
const MOST_ENTRIES = 200_000;

/** `kinds`: of what is not where it should be, with the words for a person. */
const KINDS = [
  ['isFIFO', 'a pipe'],
  ['isSocket', 'a socket'],
  ['isCharacterDevice', 'a device'],
  ['isBlockDevice', 'a device'],
  ['isSymbolicLink', 'a link'],
] as const;

export interface OddEntry {
  readonly path: string;
  readonly kind: string;
}

/**
 * What is at or below a path and is neither a file nor a folder: a program that opens a pipe there waits for ever. Follows no link.
 * `links`: whether they count too.
 */
export async function findOddEntries(path: string, { links }: { readonly links: boolean }): Promise<OddEntry[]> {
  const top = await lstat(path).catch(() => undefined);
  if (top === undefined) return [];
  const found: OddEntry[] = [];
  const judge = (at: string, entry: Pick<Dirent, (typeof KINDS)[number][0]>): void => {
    const kind = KINDS.find(([is]) => entry[is]())?.[1];
    if (kind !== undefined && (links || kind !== 'a link')) found.push({ path: at, kind });
  };
  judge(path, top);
  const open = top.isDirectory() ? [path] : [];
  for (let folder = open.pop(), seen = 0; folder !== undefined && seen < MOST_ENTRIES; folder = open.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    seen += entries.length;
    for (const entry of entries) {
      const at = join(folder, entry.name);
      if (entry.isDirectory()) open.push(at);
      else judge(at, entry);
    }
  }
  return found;
}

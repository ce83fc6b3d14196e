import { lstatSync, readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';

/** More would hold up a start: what is behind them is not looked at. */
const MOST_ENTRIES = 200_000;

/** Entries that are neither file nor folder, in words for a person. */
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
 * Entries that are neither file nor folder: a program that opens a pipe blocks for ever. Follows no link. `links`: reports them too.
 * Synchronous: a store has hundreds of folders, and each wait would take longer than the look.
 */
export function findOddEntries(path: string, { links }: { readonly links: boolean }): OddEntry[] {
  const top = orNothing(() => lstatSync(path));
  if (top === undefined) return [];
  const found: OddEntry[] = [];
  const judge = (at: string, entry: Pick<Dirent, (typeof KINDS)[number][0]>): void => {
    const kind = KINDS.find(([is]) => entry[is]())?.[1];
    if (kind !== undefined && (links || kind !== 'a link')) found.push({ path: at, kind });
  };
  judge(path, top);
  const open = top.isDirectory() ? [path] : [];
  for (let folder = open.pop(), seen = 0; folder !== undefined && seen < MOST_ENTRIES; folder = open.pop()) {
    const entries = entriesOf(folder);
    seen += entries.length;
    for (const entry of entries) {
      if (entry.isDirectory()) open.push(join(folder, entry.name));
      else if (!entry.isFile()) judge(join(folder, entry.name), entry);
    }
  }
  return found;
}

function entriesOf(folder: string): Dirent[] {
  return orNothing(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

/** undefined: it cannot be read, so no git can read it either. */
export function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

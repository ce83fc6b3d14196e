import { statfsSync, type BigIntStats } from 'node:fs';

/** Where every change of the names in a folder changes the folder's times (statfs(2)): ext, XFS, Btrfs, F2FS, tmpfs, overlayfs. */
const EXACT = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x01021994, 0x794c7630]);
/** A change within one tick of the system's clock leaves the time as it was. The same tick is long over after that. */
const SETTLED_MS = 1_000n;
const MS = 1_000_000n;

/**
 * Remembers folders that held the files of an index and nothing else, so that they need no listing while the system says that they
 * are as they were. No program can set the time of a folder's last change, only the machine's clock.
 */
export interface SettledFolders {
  /** The folders in it, if it is as it was; undefined: it has to be listed. */
  foldersIn(path: string, now: BigIntStats | undefined): readonly string[] | undefined;
  /** `before`: what the system said of it before it was listed. */
  remember(path: string, before: BigIntStats | undefined, folders: readonly string[]): void;
}

export function createSettledFolders(): SettledFolders {
  const known = new Map<string, { readonly state: string; readonly folders: readonly string[] }>();
  return {
    foldersIn: (path, now) => {
      const found = known.get(path);
      return now !== undefined && found?.state === stateOf(now) ? found.folders : undefined;
    },
    remember: (path, before, folders) => {
      if (before === undefined || before.ctimeNs > (BigInt(Date.now()) - SETTLED_MS) * MS) return;
      known.set(path, { state: stateOf(before), folders });
    },
  };
}

/** Remembers nothing: for file systems without exact times. */
export const NONE_SETTLED: SettledFolders = { foldersIn: () => undefined, remember: () => undefined };

export function hasExactTimes(folder: string, platform = process.platform): boolean {
  return platform === 'linux' && EXACT.has(statfsSync(folder).type >>> 0);
}

function stateOf({ dev, ino, mode, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, mode, mtimeNs, ctimeNs].join(' ');
}

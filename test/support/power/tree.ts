import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Content, type Disk, type Inode } from './disk.ts';

/** Reads a folder into a disk, as what is on it. `skips`: paths that it does not have. */
export function readTree(disk: Disk, root: string, skips: (path: string) => boolean): void {
  const fill = (folder: Inode, path: string): void => {
    for (const name of readdirSync(path)) {
      const own = join(path, name);
      if (skips(own)) continue;
      const found = lstatSync(own);
      const kind = found.isDirectory() ? 'folder' : found.isSymbolicLink() ? 'link' : 'file';
      const inode = disk.make(kind, found.mode & 0o7777, kind === 'link' ? readlinkSync(own) : '');
      if (kind === 'file') disk.change(inode, { at: 0, bytes: readFileSync(own) });
      folder.entries.set(name, inode);
      if (kind === 'folder') fill(inode, own);
    }
  };
  fill(disk.root, root);
  disk.begin();
}

/** Paths that differ between a folder and what programs see on the disk. */
export function differences(disk: Disk, root: string, skips: (path: string) => boolean): string[] {
  const found: string[] = [];
  const compare = (inode: Inode, path: string): void => {
    const names = readdirSync(path).filter((name) => !skips(join(path, name)));
    for (const name of inode.entries.keys())
      if (!names.includes(name) && !skips(join(path, name))) found.push(`${join(path, name)} is gone`);
    for (const name of names) {
      const [own, known] = [join(path, name), inode.entries.get(name)];
      const there = lstatSync(own);
      if (known === undefined) found.push(`${own} is new`);
      else if (there.isDirectory()) compare(known, own);
      else if (there.isFile() && !readFileSync(own).equals(known.content.bytes)) found.push(`${own} differs`);
    }
  };
  compare(disk.root, root);
  return found;
}

/** How much of what was not synced a cut leaves. */
export interface Left {
  /** Changes of names that the journal had written. */
  readonly journaled: number;
  /** Changes of content that were written, of so many. */
  written(changes: number): number;
}

/** Makes a folder of what is on the disk after a cut. */
export function writeTree(
  disk: Disk,
  root: string,
  { journaled, written }: Left,
  skips: (path: string) => boolean,
): void {
  const folders = disk.namesAfter(journaled);
  const write = (folder: Inode, path: string): void => {
    for (const [name, inode] of folders.get(folder) ?? []) {
      const own = join(path, name);
      if (skips(own)) continue;
      if (inode.kind === 'folder') {
        mkdirSync(own);
        write(inode, own);
        chmodSync(own, inode.mode);
      } else if (inode.kind === 'link') symlinkSync(inode.target, own);
      else {
        const content = new Content();
        content.apply({ at: 0, bytes: inode.synced.bytes });
        for (const change of inode.pending.slice(0, written(inode.pending.length))) content.apply(change);
        writeFileSync(own, content.bytes, { mode: inode.mode });
        chmodSync(own, inode.mode);
      }
    }
  };
  write(disk.root, root);
}

export function emptyFolder(root: string): void {
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true, force: true, maxRetries: 5 });
}

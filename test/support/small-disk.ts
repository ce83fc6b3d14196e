import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, rmdirSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real filesystem of its own (tmpfs) that can be filled and made read-only. */
export interface SmallDisk {
  readonly root: string;
  /** Leaves not one byte. */
  fill(): void;
  free(): void;
  remount(how: 'ro' | 'rw'): void;
  /** What `work` puts into the folder for temporary files lands here. */
  within<T>(work: () => T): T;
  close(): void;
}

/** undefined: this user may not mount here. */
export function openSmallDisk(megabytes: number, folder = tmpdir()): SmallDisk | undefined {
  const root = mkdtempSync(join(folder, 'squad-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', root], { stdio: 'ignore' });
  } catch {
    rmdirSync(root);
    return undefined;
  }
  const filler = join(root, 'filler');
  return {
    root,
    fill: () => fillFile(filler),
    free: () => rmSync(filler, { force: true }),
    remount: (how) => {
      execFileSync('mount', ['-o', `remount,${how}`, root]);
      // A disk that can still be written would prove nothing.
      if (how === 'ro' && canWrite(root)) throw new Error(`${root} can still be written`);
    },
    within: (work) => {
      const before = process.env['TMPDIR'];
      process.env['TMPDIR'] = root;
      try {
        return work();
      } finally {
        if (before === undefined) delete process.env['TMPDIR'];
        else process.env['TMPDIR'] = before;
      }
    },
    close: () => {
      // Lazily: a helper that is on its way out may still stand in it.
      execFileSync('umount', ['--lazy', root]);
      rmdirSync(root);
    },
  };
}

/** Whether tests may mount a disk here; the reason stands in the titles of what is skipped. */
export function canMount(): boolean {
  const disk = openSmallDisk(1);
  disk?.close();
  return disk !== undefined;
}

function canWrite(folder: string): boolean {
  const path = join(folder, 'try');
  try {
    closeSync(openSync(path, 'w'));
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}

function fillFile(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
      const bytes = Buffer.alloc(size);
      for (let written = size; written === size;) written = writeUpTo(file, bytes);
    }
  } finally {
    closeSync(file);
  }
}

function writeUpTo(file: number, bytes: Buffer): number {
  try {
    return writeSync(file, bytes);
  } catch {
    // No space.
    return 0;
  }
}

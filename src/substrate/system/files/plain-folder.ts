import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { errorCode } from '../../../model/storage-error.ts';
import { orNothing } from './odd-entry.ts';

/** A path below the folder, with one character for each byte: a name need not be valid UTF-8. */
type BytePath = string;

export interface PlainEntry {
  readonly name: BytePath;
  readonly kind: 'file' | 'link' | 'folder' | 'other';
}

/**
 * Looks at a folder that other processes may change meanwhile, and follows no link in it (bar S3): what is read is opened in its
 * folder, which is open and in its place. Answers undefined for what is not there any more; other errors are thrown.
 */
export interface PlainFolder {
  list(path: BytePath): readonly PlainEntry[] | undefined;
  stat(path: BytePath): BigIntStats | undefined;
  /** A regular file, open for reading. The caller closes it. undefined: it is gone, or something else by now. */
  open(path: BytePath): number | undefined;
  target(path: BytePath): Buffer | undefined;
  /** Deletes a file or a link. */
  remove(path: BytePath): void;
  /** Deletes a folder if nothing is in it. */
  removeEmpty(path: BytePath): void;
  /** By which another program reads an open file: where the system has paths for open files, no rename changes it. */
  pathOf(file: number, path: BytePath): string | Buffer;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Non-blocking, because an agent may plant a pipe. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export function openPlainFolder(root: string, isLinux = process.platform === 'linux'): PlainFolder {
  const top = Buffer.from(realpathSync(root)).toString('latin1');
  const at = (path: BytePath): string | Buffer => bytesOf(path === '' ? top : `${top}/${path}`);
  /** Runs with a path of the open folder, or of the folder where it is checked to be no link's target. */
  const inFolder = <T>(path: BytePath, work: (folder: string) => T): T | undefined => {
    const place = path.includes('/') ? `${top}/${path.slice(0, path.lastIndexOf('/'))}` : top;
    const folder = openSync(bytesOf(place), FOLDER);
    try {
      const seen = isLinux ? readlinkSync(`/proc/self/fd/${folder}`, 'latin1') : realpathSync(bytesOf(place), 'latin1');
      if (seen !== place) return undefined;
      return work(isLinux ? `/proc/self/fd/${folder}` : place);
    } finally {
      closeSync(folder);
    }
  };
  const nameOf = (path: BytePath): BytePath => path.slice(path.lastIndexOf('/') + 1);
  return {
    list: (path) =>
      unlessGone(() =>
        readdirSync(at(path), { withFileTypes: true, encoding: 'latin1' }).map((entry) => ({
          name: entry.name,
          kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other',
        })),
      ),
    stat: (path) => unlessGone(() => lstatSync(at(path), { bigint: true })),
    open: (path) =>
      unlessGone(() =>
        inFolder(path, (folder) => {
          const file = openSync(bytesOf(`${folder}/${nameOf(path)}`), READ);
          if (fstatSync(file).isFile()) return file;
          closeSync(file);
          return undefined;
        }),
      ),
    target: (path) =>
      unlessGone(() => inFolder(path, (folder) => readlinkSync(bytesOf(`${folder}/${nameOf(path)}`), 'buffer'))),
    remove: (path) => {
      unlessGone(() => inFolder(path, (folder) => unlinkSync(bytesOf(`${folder}/${nameOf(path)}`))));
    },
    removeEmpty: (path) => {
      unlessGone(() => inFolder(path, (folder) => rmdirSync(bytesOf(`${folder}/${nameOf(path)}`))), 'ENOTEMPTY');
    },
    pathOf: (file, path) => (isLinux ? `/proc/${process.pid}/fd/${file}` : at(path)),
  };
}

/** For system calls and for git. */
export function bytesOf(path: BytePath): string | Buffer {
  // Most paths are plain, and a string is faster.
  // oxlint-disable-next-line no-control-regex -- all of ASCII is meant
  return /^[\u0000-\u007F]*$/.test(path) ? path : Buffer.from(path, 'latin1');
}

/** Where a path below a folder is, for system calls. `path`: empty is the folder itself. */
export function pathIn(root: string, path: BytePath): string | Buffer {
  return path === '' ? root : bytesOf(`${Buffer.from(root).toString('latin1')}/${path}`);
}

/** Facts of the system, without following a link at its end; undefined: nothing is there that can be looked at. */
export function lookIn(root: string, path: BytePath): BigIntStats | undefined {
  return orNothing(() => lstatSync(pathIn(root, path), { bigint: true }));
}

/** As people read it. */
export function textOfPath(path: BytePath): string {
  return Buffer.from(path, 'latin1').toString('utf8');
}

/** Missing, or replaced by a link, a socket or something else. */
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENXIO']);

function unlessGone<T>(work: () => T, besides = ''): T | undefined {
  try {
    return work();
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (GONE.has(code) || code === besides) return undefined;
    throw error;
  }
}

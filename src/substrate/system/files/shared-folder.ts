import { createHash } from 'node:crypto';
import { lstatSync, type BigIntStats } from 'node:fs';
import { chmod, constants, copyFile, link, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sha256Of } from '../../../model/sha256.ts';
import { errorCode } from '../../../model/storage-error.ts';
import { confine } from './confine.ts';
import { openConfined } from './open-confined.ts';
import { refuseLinks } from './refuse-links.ts';
import { unfinishedOf, writeWhole } from './run-files.ts';

/** Ends the name under which squad keeps a person's file when it writes one of the same name. */
const THEIRS = '.theirs';
/** The stamp of what cannot be looked at. */
const UNKNOWN = 'unknown';

interface SharedFile {
  readonly path: string;
  readonly text: string | Uint8Array;
  /** As `put` returned it last; undefined: squad has not looked at the file yet. */
  readonly stamp: string | undefined;
  /** Whether squad may replace the bytes with this SHA-256 (hex). */
  isOurs(hash: string): boolean;
}

interface Put {
  readonly stamp: string;
  /** Under what name the file is kept that someone else wrote there; undefined: there was none. */
  readonly kept: string | undefined;
}

/** A folder of a person's, in which squad writes some files. It keeps what it did not write, and follows no link. */
export interface SharedFolder {
  /** Differs once anyone writes the file; undefined: there is none. Reads nothing of it. */
  stamp(path: string): string | undefined;
  /** Writes the file, whole or not at all, unless it is there as it should be. */
  put(file: SharedFile): Promise<Put>;
  /** Removes a file of squad's own. One that someone else wrote stays. */
  remove(file: Pick<SharedFile, 'path' | 'isOurs'>): Promise<void>;
  /** Removes what a killed engine has left half written of these files. */
  removeUnfinished(paths: Iterable<string>): Promise<void>;
}

/** `root` is a real path. */
export function sharedFolder(root: string): SharedFolder {
  return {
    stamp: (path) => {
      try {
        return stampOf(statOf(confine(root, path)));
      } catch {
        // Writing it says why, and harms no other file.
        return UNKNOWN;
      }
    },
    put: async (file) => {
      await makeWay(root, file.path);
      const stamp = file.stamp === undefined ? stampOf(statOf(confine(root, file.path))) : undefined;
      const isThere = stamp !== undefined && (await hashAt(root, file.path)) === sha256Of(file.text);
      return isThere ? { stamp, kept: undefined } : replace(root, file);
    },
    remove: async ({ path, isOurs }) => {
      await refuseLinks(root, dirname(path));
      const target = confine(root, path);
      if (statOf(target)?.isFile() !== true) return;
      const hash = await hashAt(root, path);
      if (hash !== undefined && isOurs(hash)) await rm(target, { force: true });
    },
    removeUnfinished: async (paths) => {
      const known = new Set(paths);
      for (const folder of new Set([...known].map((path) => dirname(path)))) {
        // An obstacle there also stops the writing of squad's own files, which warns.
        await removeIn(root, folder, known).catch(() => undefined);
      }
    },
  };
}

/**
 * Makes the folders on the way to a file. The shared folder itself is never made: without the rest of it, its files would say
 * nothing.
 */
async function makeWay(root: string, path: string): Promise<void> {
  if (statOf(root)?.isDirectory() !== true) throw new Error(`${root} is not there any more`);
  await refuseLinks(root, dirname(path), (folder) => mkdir(folder));
}

async function removeIn(root: string, folder: string, known: ReadonlySet<string>): Promise<void> {
  if (statOf(join(root, folder))?.isDirectory() !== true) return;
  for (const name of await readdir(join(root, folder))) {
    if (known.has(join(folder, unfinishedOf(name) ?? ''))) await rm(join(root, folder, name), { force: true });
  }
}

async function replace(root: string, file: SharedFile): Promise<Put> {
  const target = confine(root, file.path);
  let kept: string | undefined;
  let stamp = '';
  await writeWhole(target, file.text, {
    mode: 0o666,
    beforeRename: async (fresh) => {
      const [own, found] = [statOf(fresh), statOf(target)];
      stamp = stampOf(own) ?? '';
      if (found?.isFile() === true && found.mode !== own?.mode) await chmod(fresh, Number(found.mode) & 0o777);
      if (!(await isReplaceable(root, file, found))) kept = await keep(root, file.path);
    },
  });
  return { stamp, kept };
}

async function isReplaceable(root: string, file: SharedFile, found: BigIntStats | undefined): Promise<boolean> {
  const { path, text, stamp } = file;
  if (found === undefined || (found.isFile() && stampOf(found) === stamp)) return true;
  const hash = found.isFile() ? await hashAt(root, path) : undefined;
  return hash !== undefined && (hash === sha256Of(text) || file.isOurs(hash));
}

/** Keeps what is there under the first free name, or under the newest one if that has it already, from before a crash. */
async function keep(root: string, path: string): Promise<string> {
  const from = join(root, path);
  const taken = new Set(await readdir(dirname(from)));
  let name = `${path}${THEIRS}`;
  let newest: string | undefined;
  for (let number = 2; taken.has(basename(name)); number += 1) {
    newest = name;
    name = `${path}${THEIRS}-${number}`;
  }
  const isFile = statOf(from)?.isFile() === true;
  const hash = isFile && newest !== undefined ? await hashAt(root, path) : undefined;
  if (newest !== undefined && hash !== undefined && (await hashAt(root, newest)) === hash) return newest;
  await (isFile ? linkOrCopy(from, join(root, name)) : rename(from, join(root, name)));
  return name;
}

/** A link keeps the file itself, with what an open editor still writes into it. Some disks have none. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}

/** undefined: it is no file that can be read. */
async function hashAt(root: string, path: string): Promise<string | undefined> {
  const opened = await openConfined(root, path).catch(() => undefined);
  if (opened?.type !== 'opened') return undefined;
  try {
    const hash = createHash('sha256');
    for await (const part of opened.file.createReadStream({ autoClose: false })) hash.update(part);
    return hash.digest('hex');
  } finally {
    await opened.file.close();
  }
}

/** At once: asking another thread takes ten times as long. */
function statOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

function stampOf(found: BigIntStats | undefined): string | undefined {
  return found === undefined ? undefined : `${found.ino}-${found.size}-${found.mtimeNs}`;
}

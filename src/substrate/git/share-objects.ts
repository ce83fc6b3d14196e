import { randomUUID } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { chmod, link, mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { syncAll } from '../system/files/sync.ts';
import { decideSharedMode, type SharingRule } from './sharing-rule.ts';

/** The mode in which git makes objects, before the umask. */
const READ_ONLY = 0o444;
const CHUNK_BYTES = 1024 * 1024;

/** How a file is shared, as far as others notice. */
type Sharing = Readonly<Record<'uid' | 'gid' | 'mode', number>>;

/** All that one object store has given to another, as far as this process knows. */
export interface Sent {
  /** Names of files below the store. */
  readonly names: Set<string>;
  /** When each of its folders was changed last, if it has nothing else (epoch ms). */
  readonly folders: Map<string, number>;
}

/** All of it is given again. */
export function forgetSent({ names, folders }: Sent): void {
  names.clear();
  folders.clear();
}

/** A file that comes later may leave a folder the same time stamp, by which it looks unchanged, only within a moment of the last one. */
const COARSE_MS = 100;

/**
 * Adds whole files without a git, each index after its pack, with the owner, group and mode that the folder, the umask and `rule` give a
 * new file. Everything is flushed when it returns. What is `sent` is skipped.
 */
export async function shareObjects(from: string, to: string, sent: Sent, rule: SharingRule): Promise<void> {
  const { found, folders } = findNew(from, sent);
  const all = found.flatMap(({ folder, names }) => names.map((name) => join(folder, name)));
  try {
    if (all.length > 0) {
      // Before they get a name there: git believes that an object with a name is whole, and never writes it again.
      await syncAll(all.map((name) => join(from, name)));
      for (const { folder, names } of found) {
        const target = join(to, folder);
        await makeFolder(target, rule);
        const usual = await newFileIn(target, rule);
        for (const name of names) await give(join(from, folder, name), target, name, usual, rule);
      }
      await syncAll([to, ...found.map(({ folder }) => join(to, folder))]);
    }
    for (const name of all) sent.names.add(name);
    for (const { folder, changed } of folders) sent.folders.set(folder, changed);
  } catch (error) {
    throw storageError(to, error);
  }
}

interface Listed {
  readonly folder: string;
  readonly names: readonly string[];
  /** When the folder was changed last (epoch ms). */
  readonly changed: number;
}

/** `found`: folders with files that were not sent. `folders`: those that were listed, and have been as they are for a while. */
function findNew(from: string, { names: sent, folders: known }: Sent) {
  const all = readdirSync(from).filter((name) => /^(?:[0-9a-f]{2}|pack)$/.test(name));
  const found: Listed[] = [];
  const folders: Listed[] = [];
  for (const folder of all) {
    const changed = statSync(join(from, folder)).mtimeMs;
    if (known.get(folder) === changed) continue;
    const names = readdirSync(join(from, folder)).filter((name) => isObject(name) && !sent.has(join(folder, name)));
    const listed = {
      ...{ folder, changed },
      names: names.toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx'))),
    };
    if (names.length > 0) found.push(listed);
    if (changed < Date.now() - COARSE_MS) folders.push(listed);
  }
  return { found, folders };
}

/** Not the temporary files of a git that was killed. */
function isObject(name: string): boolean {
  return /^(?:[0-9a-f]{38}|[0-9a-f]{62}|pack-[0-9a-f]+\.(?:pack|rev|idx))$/.test(name);
}

async function makeFolder(path: string, rule: SharingRule): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    throw error;
  }
  if (rule.type !== 'umask') await chmod(path, decideSharedMode(rule, (await stat(path)).mode & 0o7777, true));
}

/** How a new file in this folder is shared: seen from one, because umask, group and access lists of the folder decide it. */
async function newFileIn(folder: string, rule: SharingRule): Promise<Sharing> {
  const path = temporaryIn(folder);
  const file = await open(path, 'wx', READ_ONLY);
  try {
    return sharingOf(await settle(file, rule));
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

/** git's own name for it: `git gc` removes one that a kill has left. No two writers have the same. */
function temporaryIn(folder: string): string {
  return join(folder, `tmp_obj_${randomUUID().replaceAll('-', '')}`);
}

async function settle(file: FileHandle, rule: SharingRule) {
  const made = await file.stat();
  const mode = decideSharedMode(rule, made.mode & 0o7777, false);
  if (mode === (made.mode & 0o7777)) return made;
  await file.chmod(mode);
  return file.stat();
}

function sharingOf({ uid, gid, mode }: Sharing): Sharing {
  return { uid, gid, mode: mode & 0o7777 };
}

/** Their names follow from their content, so a file that is there already is the same. */
async function give(source: string, folder: string, name: string, usual: Sharing, rule: SharingRule): Promise<void> {
  const target = join(folder, name);
  const own = sharingOf(await stat(source));
  const isUsual = own.uid === usual.uid && own.gid === usual.gid && own.mode === usual.mode;
  if (isUsual && (await isLinked(source, target))) return;
  const temporary = temporaryIn(folder);
  try {
    await copy(source, temporary, rule);
    // By rename where the file system knows no links. A file that is there stays.
    if (!(await isLinked(temporary, target))) await rename(temporary, target);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Whether the target has the content now; false: it cannot be linked from there. */
async function isLinked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (code === 'EEXIST') return true;
    // Another disk, a file system without links, too many of them, or a rule of the kernel about files of others.
    if (/^(?:EXDEV|EPERM|EACCES|EMLINK|ENOTSUP|EOPNOTSUPP|ENOSYS)$/.test(code)) return false;
    throw error;
  }
}

/** A new file, as the folder makes it, on the disk before it gets its name. */
async function copy(from: string, to: string, rule: SharingRule): Promise<void> {
  const source = await open(from, 'r');
  try {
    const target = await open(to, 'wx', READ_ONLY);
    try {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, (await source.stat()).size)));
      for (let part = await source.read(buffer); part.bytesRead > 0; part = await source.read(buffer)) {
        await target.writeFile(buffer.subarray(0, part.bytesRead));
      }
      await settle(target, rule);
      await target.sync();
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

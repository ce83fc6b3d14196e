import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { syncAll } from '../system/files/sync.ts';
import { decideSharedMode, type SharingRule } from './sharing-rule.ts';

/** The mode in which git makes objects, before the umask. */
const READ_ONLY = 0o444;
const CHUNK_BYTES = 1024 * 1024;

/** How a file is shared, as far as others notice. */
type Sharing = Readonly<Record<'uid' | 'gid' | 'mode', number>>;

/**
 * Adds whole files without a git, each index after its pack, with the owner, group and mode that the folder, the umask and `rule` give a
 * new file. Everything is flushed when it returns. `sent`: names to skip, because they were given before.
 */
export async function shareObjects(from: string, to: string, sent: Set<string>, rule: SharingRule): Promise<void> {
  const found = await findNew(from, sent);
  const all = found.flatMap(({ folder, names }) => names.map((name) => join(folder, name)));
  if (all.length === 0) return;
  try {
    // Before they get a name there: git believes that an object with a name is whole, and never writes it again.
    await syncAll(all.map((name) => join(from, name)));
    for (const { folder, names } of found) {
      const target = join(to, folder);
      await makeFolder(target, rule);
      const usual = await newFileIn(target, rule);
      for (const name of names) await give(join(from, folder, name), target, name, usual, rule);
    }
    await syncAll([to, ...found.map(({ folder }) => join(to, folder))]);
    for (const name of all) sent.add(name);
  } catch (error) {
    throw storageError(to, error);
  }
}

async function findNew(from: string, sent: ReadonlySet<string>) {
  const folders = (await readdir(from)).filter((name) => /^(?:[0-9a-f]{2}|pack)$/.test(name));
  const found = folders.map(async (folder) => {
    const names = (await readdir(join(from, folder))).filter((name) => isObject(name) && !sent.has(join(folder, name)));
    return { folder, names: names.toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx'))) };
  });
  return (await Promise.all(found)).filter(({ names }) => names.length > 0);
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

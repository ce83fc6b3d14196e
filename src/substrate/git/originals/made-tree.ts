import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, readdirSync, readlinkSync, statSync, type BigIntStats } from 'node:fs';
import { errorCode } from '../../../model/storage-error.ts';
import { orNothing } from '../../system/files/odd-entry.ts';
import { lookIn, pathIn, textOfPath } from '../../system/files/plain-folder.ts';

/** A folder that a command made, with all that is in it. */
export interface MadeTree {
  /** Names, kinds, sizes, modes, targets and times: equal in a copy. */
  readonly shape: string;
  /** With what the system says of each change: equal only while nothing has changed. */
  readonly state: string;
  readonly files: number;
  readonly bytes: number;
}

export type Looked =
  | { readonly type: 'tree'; readonly tree: MadeTree }
  | { readonly type: 'odd'; readonly why: string };

/** Places that nothing may name in a folder that others get. */
export interface Strict {
  /** The task's folder, as an absolute path. */
  readonly root: string;
  /** squad's own folder: those in it come and go. */
  readonly state: string;
}

interface Look {
  readonly root: string;
  readonly strict: Strict | undefined;
  readonly device: bigint;
  readonly owner: bigint;
  readonly shape: ReturnType<typeof createHash>;
  readonly state: ReturnType<typeof createHash>;
  files: number;
  bytes: number;
  slice: number;
}

/** Other work of the engine has its turn after so many milliseconds. */
const SLICE_MS = 10;
const ODD_MODE = 0o7000n;

/** Looks at each entry below a folder and reads no file. `path`: below `root`, with one character for each byte. */
export async function lookAtTree(root: string, path: string, strict?: Strict): Promise<Looked> {
  const top = lookIn(root, path);
  if (top?.isDirectory() !== true) return odd(path, 'is not a folder');
  const [shape, state] = [createHash('sha256'), createHash('sha256')];
  const base = { root, strict, device: top.dev, owner: top.uid };
  const look: Look = { ...base, shape, state, files: 0, bytes: 0, slice: performance.now() };
  try {
    const why = await walk(look, path, '');
    if (why !== undefined) return why;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return odd(path, 'changes while squad reads it');
  }
  const { files, bytes } = look;
  return { type: 'tree', tree: { shape: shape.digest('hex'), state: state.digest('hex'), files, bytes } };
}

async function walk(look: Look, path: string, below: string): Promise<Looked | undefined> {
  const names = orNothing(() => readdirSync(pathIn(look.root, path), { encoding: 'latin1' }));
  if (names === undefined) return odd(path, 'cannot be read');
  for (const name of names.toSorted()) {
    const [at, inside] = [`${path}/${name}`, `${below}/${name}`];
    const found = lookIn(look.root, at);
    if (found === undefined) return odd(at, 'went away meanwhile');
    const why = enter(look, at, inside, found);
    if (why !== undefined) return odd(at, why);
    if (performance.now() - look.slice > SLICE_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      look.slice = performance.now();
    }
    const deeper = found.isDirectory() ? await walk(look, at, inside) : undefined;
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

/** Why an entry may not be there. */
function enter(look: Look, path: string, below: string, found: BigIntStats): string | undefined {
  if (found.dev !== look.device) return 'is on another disk';
  if (found.uid !== look.owner) return 'belongs to another user';
  const { mode, size, mtimeNs, ctimeNs, ino, gid } = found;
  if (found.isDirectory()) {
    look.shape.update(`${below}\0${mode}\n`);
    // Only the time says that attributes changed.
    look.state.update(`${below}\0${mode} ${gid} ${ino} ${ctimeNs}\n`);
    return undefined;
  }
  if (!found.isFile() && !found.isSymbolicLink()) return 'is neither a file nor a link';
  if (found.nlink !== 1n) return 'has a second name, through which it can be changed';
  if (found.isFile() && (mode & ODD_MODE) !== 0n) return 'runs with the rights of another user';
  const target = found.isSymbolicLink() ? readlinkSync(pathIn(look.root, path), 'latin1') : undefined;
  const why = look.strict === undefined ? undefined : whyNotMoved(look.strict, path, found, target);
  if (why !== undefined) return why;
  look.files += 1;
  look.bytes += Number(size);
  // A copy of a link has a time of its own on some systems.
  look.shape.update(`${below}\0${mode} ${size} ${target ?? mtimeNs}\n`);
  look.state.update(`${below}\0${mode} ${gid} ${size} ${ino} ${target ?? ''} ${mtimeNs} ${ctimeNs}\n`);
  return undefined;
}

const MOST_FIRST_BYTES = 4096;
const EXECUTABLE = 0o111n;

/** Why an entry would mean something else in another task's folder. */
function whyNotMoved(strict: Strict, path: string, found: BigIntStats, target: string | undefined): string | undefined {
  if (target !== undefined) return leaves(strict, path, target) ? 'is a link that leaves the folder' : undefined;
  if ((found.mode & EXECUTABLE) === 0n && !path.endsWith('.pth')) return undefined;
  const first = firstBytes(pathIn(strict.root, path));
  const isPath = first.startsWith('#!') || path.endsWith('.pth');
  return isPath && first.includes(strict.root) ? 'names the folder in which it was made' : undefined;
}

function leaves({ root, state }: Strict, path: string, target: string): boolean {
  const text = textOfPath(target);
  if (text.startsWith('/')) {
    // A program of the machine, such as the interpreter of a virtual environment, is the same for each folder.
    const isOurs = [root, state].some((one) => text === one || text.startsWith(`${one}/`));
    return isOurs || orNothing(() => statSync(text))?.isFile() !== true;
  }
  const parts = path.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..' && parts.pop() === undefined) return true;
    if (part !== '..' && part !== '.' && part !== '') parts.push(part);
  }
  return false;
}

function firstBytes(path: string | Buffer): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.alloc(MOST_FIRST_BYTES);
    return bytes.subarray(0, readSync(file, bytes)).toString('utf8');
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function odd(path: string, why: string): Looked & { type: 'odd' } {
  return { type: 'odd', why: `${textOfPath(path)} ${why}` };
}

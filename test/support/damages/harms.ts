import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** What a harm may use: numbers from 0 up to 1, and the same file as it was some turns earlier. */
interface Means {
  readonly random: () => number;
  readonly older: string;
}

/** false: the harm is none here, such as the older copy of a file that is as it was. */
type Harm = (path: string, means: Means) => boolean;

/** Ways in which a file comes to harm. */
export const FILE_HARMS: Readonly<Record<string, Harm>> = {
  'is empty': changed(() => Buffer.alloc(0)),
  'is cut short': changed((bytes, random) => bytes.subarray(0, Math.floor(random() * bytes.length))),
  'begins with garbage': changed((bytes) => bytes.fill(0xa5, 0, Math.min(16, bytes.length))),
  'has garbage in it': changed((bytes, random) => {
    const at = Math.floor(random() * bytes.length);
    return bytes.fill(0xa5, at, Math.min(at + 512, bytes.length));
  }),
  'ends with garbage': changed((bytes) => bytes.fill(0xa5, Math.floor(bytes.length * 0.9))),
  'has a flipped bit': changed((bytes, random) => {
    const at = Math.floor(random() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    return bytes;
  }),
  'is another file': changed(() => Buffer.from('no file of squad, and longer than what a header takes\n'.repeat(90))),
  'is an older one': (path, { older }) => {
    if (!isFile(older) || readFileSync(older).equals(readFileSync(path))) return false;
    writeFileSync(path, readFileSync(older));
    return true;
  },
  'is gone': replaced(),
  'is a folder': replaced((path) => mkdirSync(path)),
  'is a pipe': replaced(pipe),
  'is a socket': replaced(socket),
  'is a link': linked,
  'is a link to nothing': replaced((path) => symlinkSync(`${path}.nowhere`, path)),
  'cannot be read': forbidden,
};

/** Ways in which a folder comes to harm. */
export const FOLDER_HARMS: Readonly<Record<string, Harm>> = {
  'has nothing in it': (path) => {
    if (readdirSync(path).length === 0) return false;
    for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
    return true;
  },
  'is gone': replaced(),
  'is a file': replaced((path) => writeFileSync(path, 'no folder\n')),
  'is a pipe': replaced(pipe),
  'is a socket': replaced(socket),
  'is a link': linked,
  'is a link to nothing': replaced((path) => symlinkSync(`${path}.nowhere`, path)),
  'is a link to itself': replaced((path) => symlinkSync(path, path)),
  'cannot be read': forbidden,
};

function changed(by: (bytes: Buffer, random: () => number) => Buffer): Harm {
  return (path, { random }) => {
    const before = readFileSync(path);
    const after = by(Buffer.from(before), random);
    if (after.equals(before)) return false;
    // git's own files are read-only.
    rmSync(path);
    writeFileSync(path, after, { mode: lstatMode(path) ?? 0o600 });
    return true;
  };
}

function replaced(by?: (path: string) => void): Harm {
  return (path) => {
    rmSync(path, { recursive: true });
    by?.(path);
    return true;
  };
}

/** What was there is where the link points to. */
function linked(path: string): boolean {
  renameSync(path, `${path}.real`);
  symlinkSync(`${path}.real`, path);
  return true;
}

/** Root may read all. */
function forbidden(path: string): boolean {
  if (process.getuid?.() === 0) return false;
  chmodSync(path, 0);
  return true;
}

function pipe(path: string): void {
  execFileSync('mkfifo', [path]);
}

/** Of a process that has ended. A path of a socket has at most 107 bytes, so it is bound from its folder. */
function socket(path: string): void {
  const bind = 'require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))';
  spawnSync(process.execPath, ['-e', bind, basename(path)], { cwd: dirname(path) });
  if (!lstatSync(path).isSocket()) throw new Error(`${path} is no socket`);
}

function isFile(path: string): boolean {
  return existsSync(path) && lstatSync(path).isFile();
}

function lstatMode(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.mode;
}

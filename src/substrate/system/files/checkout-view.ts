import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isStateId } from './state-place.ts';

const IGNORE = '*\n';
/** Folders of the state that people look into. */
const SHOWN = ['runs', 'turns'];

/**
 * Shows people the files of runs in their checkout: `.squad` has links to them. squad never reads it, makes it again when it is
 * gone, and leaves alone a `.squad` that is not squad's own: a link, or a folder with other files than these.
 */
export function showState(root: string, directory: string): void {
  const view = join(root, '.squad');
  try {
    const missing = SHOWN.filter((name) => targetOf(join(view, name)) !== join(directory, name));
    if (missing.length === 0 || !isThere(join(directory, 'runs'))) return;
    if (!isThere(view)) mkdirSync(view, { mode: 0o700 });
    if (!isView(view)) return;
    const ignore = join(view, '.gitignore');
    if (!isThere(ignore)) writeFileSync(ignore, IGNORE, { mode: 0o600, flag: 'wx' });
    for (const name of missing) {
      const link = join(view, name);
      if (isThere(link)) unlinkSync(link);
      symlinkSync(join(directory, name), link);
    }
  } catch {
    // A checkout that cannot be written has no view. Every command says where the files are.
  }
}

/** Whether squad made everything in a folder: the file that hides it from git, and links to this or another state. */
export function isView(view: string): boolean {
  if (lstatSync(view, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  return readdirSync(view).every((name) => {
    const path = join(view, name);
    if (SHOWN.includes(name)) return isStateId(basename(dirname(targetOf(path) ?? '/')));
    return name === '.gitignore' && lstatSync(path).isFile() && readFileSync(path, 'utf8') === IGNORE;
  });
}

/** undefined: it is no link. */
function targetOf(path: string): string | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : undefined;
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

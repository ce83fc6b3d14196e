import { quotedName } from '../../text/plain-text.ts';
import { foldedPath } from './folded-path.ts';

// Rules for paths of planned tasks. They apply to a plan and to an answer that adds paths.

/** Patterns are refused: they cannot be compared with other paths. */
const PATTERN = /[*?[\]{}]/;
/** Characters. A message takes no longer one. */
const LONGEST = 500;
/** Git's and squad's own. */
const OWN_FOLDERS: ReadonlySet<string> = new Set(['.git', '.squad']);

/** Without `./`, doubled slashes and a slash at the end. `.` is the whole repository. */
export function plainPath(path: string): string {
  const parts = path.trim().split('/');
  const kept = parts.filter((part, index) => part !== '.' && (part !== '' || index === 0));
  return kept.length === 0 ? '.' : kept.join('/');
}

/** Expects a plain path; undefined: a task may have it. */
export function pathProblem(path: string): string | undefined {
  if (isOutside(path)) return `${quotedName(path)} is no path within the repository`;
  if (isOwn(path)) return `${quotedName(path)} belongs to git or to squad`;
  if (PATTERN.test(path)) {
    return `${quotedName(path)} has a character of a pattern (* ? [ ] { }); name the folder`;
  }
  return undefined;
}

function isOutside(path: string): boolean {
  const parts = path.split('/');
  return (
    path === '' ||
    path.length > LONGEST ||
    /^[A-Za-z]:|[\\\p{Cc}\u2028\u2029]/u.test(path) ||
    ['', '~'].includes(parts[0] ?? '') ||
    parts.includes('..')
  );
}

/** `.git` anywhere, and `.squad` in the root, however a file system writes them. */
function isOwn(path: string): boolean {
  const [first = '', ...more] = foldedPath(path).split('/');
  return OWN_FOLDERS.has(first) || more.includes('.git');
}

/** The paths of a task, made ready to be compared with many others. */
export interface Places {
  readonly own: ReadonlySet<string>;
  /** These paths, and all folders that they are in. */
  readonly above: ReadonlySet<string>;
}

export function placesOf(paths: readonly string[]): Places {
  const own = paths.map(foldedPath);
  return { own: new Set(own), above: new Set(own.flatMap(foldersOf)) };
}

/** Whether the path is one of these, is in one, or has one in it, on any file system. */
export function meets(path: string, { own, above }: Places): boolean {
  const folded = foldedPath(path);
  return above.has(folded) || foldersOf(folded).some((folder) => own.has(folder));
}

/** Whether one of the two is the other or in it, on any file system. */
export function overlaps(first: string, second: string): boolean {
  return meets(first, placesOf([second]));
}

/** A folded path, and each folder that it is in up to the root, which is the empty text. */
function foldersOf(folded: string): string[] {
  const steps = folded.split('/');
  return ['', ...steps.map((_, index) => steps.slice(0, index + 1).join('/'))];
}

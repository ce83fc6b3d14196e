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

/** Whether one of the two is the other or in it, on any file system. */
export function overlaps(first: string, second: string): boolean {
  const [one, other] = [foldedPath(first), foldedPath(second)];
  return one === '' || other === '' || one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

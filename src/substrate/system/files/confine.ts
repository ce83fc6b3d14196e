import { join, relative, sep } from 'node:path';
import { badInput } from '../../../model/errors.ts';
import { pathProblem } from '../../../text/path-problem.ts';

/** A path below a folder from untrusted text. Throws `bad-input`. Does not check links: see `openConfined`. */
export function confine(root: string, path: string): string {
  const problem = pathProblem(path);
  if (problem === undefined) return join(root, path);
  throw badInput(
    `the path ${JSON.stringify(path.slice(0, 80))} ${problem}`,
    'Name a file below the folder, by its plain path from there.',
  );
}

/** Compares components: `/a/bc` is not within `/a/b`. Both paths must be absolute and without links. */
export function isWithin(root: string, path: string): boolean {
  return relative(root, path).split(sep, 1)[0] !== '..';
}

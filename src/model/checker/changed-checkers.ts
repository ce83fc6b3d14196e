import { pathPattern } from '../../text/path-pattern.ts';
import type { CheckedWith, CheckerPart } from './checker-part.ts';
import { baseName, isBelow } from './repository-path.ts';
import { isTestNamed } from './tools.ts';

/** A file that the work changed. */
export interface WorkChange {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted' | 'retyped';
}

/** A change of what checks the work. */
export interface FoundChange {
  readonly path: string;
  /** Names of the changed parts of the file, such as scripts of a package.json; absent: the whole file counts. */
  readonly part?: string;
  readonly isProtected: boolean;
}

/** Checkers of a commit as its base commit has them, and as the work has them. */
export interface CheckersThen {
  readonly base: CheckedWith;
  readonly now: CheckedWith;
}

/**
 * Changes to files that check the work. An added file counts only if its path is protected, or if it configures checks that were there
 * before.
 */
export function changedCheckers(
  changes: readonly WorkChange[],
  { base, now }: CheckersThen,
  protect: readonly string[],
): FoundChange[] {
  const patterns = protect.flatMap((one) => pathPattern(one) ?? []);
  const hadChecks = base.files.size + base.folders.size + base.tests.size + base.parts.size > 0;
  return changes.flatMap(({ path, status }): FoundChange[] => {
    const isProtected = patterns.some((pattern) => pattern.test(path));
    const isConfig = [...base.configs, ...now.configs].some((name) => name.test(baseName(path)));
    if (status === 'added') return isProtected || (isConfig && hadChecks) ? [{ path, isProtected }] : [];
    if (isProtected || isConfig || isNamed(path, base) || isNamed(path, now)) return [{ path, isProtected }];
    const parts = changedParts(path, base, now);
    return parts.length === 0 ? [] : [{ path, part: parts.join(', '), isProtected }];
  });
}

function isNamed(path: string, { files, folders, tests }: CheckedWith): boolean {
  if (files.has(path) || [...folders].some((folder) => isBelow(path, folder))) return true;
  const finders = [...tests].flatMap(([folder, programs]) => (isBelow(path, folder) ? [...programs] : []));
  if (finders.some((program) => isTestNamed(path, program))) return true;
  return [...files].some((one) => /[*?{]/.test(one) && pathPattern(one)?.test(path) === true);
}

/** A script that the base does not have checked nothing there. */
function changedParts(path: string, base: CheckedWith, now: CheckedWith): string[] {
  const others = new Map<string, CheckerPart>(now.parts);
  return [...base.parts].flatMap(([key, part]) =>
    part.path === path && part.text !== (others.get(key)?.text ?? '') ? [part.name] : [],
  );
}

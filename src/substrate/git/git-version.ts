import type { RepositoryWarning } from '../ports/workspaces.ts';

/** `merge-tree --write-tree`, by which integration works. */
const NEEDED = [2, 38, 0];
/** First of its line without CVE-2025-48384, by which cloning a submodule writes where it likes. */
const SAFE = [2, 43, 7];

/** From `2.39.5`, `2.39.5 (Apple Git-154)`, `2.50.1.windows.1`. */
export function parseGitVersion(text: string): readonly number[] | undefined {
  const found = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return found === null ? undefined : found.slice(1).map((part) => Number(part ?? 0));
}

export function isTooOld(version: readonly number[] | undefined): boolean {
  return version === undefined || isBelow(version, NEEDED);
}

export function decideVersionWarning(text: string): RepositoryWarning | undefined {
  if (!isBelow(parseGitVersion(text) ?? [], SAFE)) return undefined;
  const warning = `git ${text} is older than 2.43.7 and may have CVE-2025-48384 unless your distributor patched it`;
  return { about: 'git-version', text: warning, next: 'Update git to 2.43.7 or newer.' };
}

function isBelow(version: readonly number[], floor: readonly number[]): boolean {
  const at = floor.findIndex((part, index) => (version[index] ?? 0) !== part);
  return at >= 0 && (version[at] ?? 0) < (floor[at] ?? 0);
}

import type { RepositoryWarning } from '../ports/workspaces.ts';

/** `merge-tree --write-tree`, by which integration works. */
const NEEDED = [2, 38, 0];
/** First version of each line without CVE-2025-48384 (a cloned submodule can write anywhere). Older lines have no fix. */
const SAFE = ['2.43.7', '2.44.4', '2.45.4', '2.46.4', '2.47.3', '2.48.2', '2.49.1', '2.50.1'].map((text) =>
  text.split('.').map(Number),
);

/** From `2.39.5`, `2.39.5 (Apple Git-154)`, `2.50.1.windows.1`. */
export function parseGitVersion(text: string): readonly number[] | undefined {
  const found = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return found === null ? undefined : found.slice(1).map((part) => Number(part ?? 0));
}

export function isTooOld(version: readonly number[] | undefined): boolean {
  return version === undefined || isBelow(version, NEEDED);
}

export function decideVersionWarning(text: string): RepositoryWarning | undefined {
  const version = parseGitVersion(text) ?? [];
  const line = SAFE.find(([major, minor]) => version[0] === major && version[1] === minor) ?? SAFE[0];
  if (line === undefined || !isBelow(version, line)) return undefined;
  const safe = line.join('.');
  const warning = `git ${text} is older than ${safe} and may have CVE-2025-48384 unless your distributor patched it`;
  return { about: 'git-version', text: warning, next: `Update git to ${safe} or newer.` };
}

function isBelow(version: readonly number[], floor: readonly number[]): boolean {
  const at = floor.findIndex((part, index) => (version[index] ?? 0) !== part);
  return at >= 0 && (version[at] ?? 0) < (floor[at] ?? 0);
}

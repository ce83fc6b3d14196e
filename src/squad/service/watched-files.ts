import { statSync } from 'node:fs';

/** A text that is another one once the files were written. Opens none of them. */
export function stampOf(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found === undefined ? '-' : `${found.ino}:${found.size}:${found.mtimeMs}`;
    })
    .join(' ');
}

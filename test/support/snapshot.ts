import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Every file below `path` with a hash of its content; links by their target, other entries by their type. */
export function snapshot(path: string, skip: readonly string[] = []): Record<string, string> {
  const seen: Record<string, string> = {};
  const visit = (current: string): void => {
    if (skip.includes(current)) return;
    const stat = lstatSync(current);
    if (stat.isDirectory()) {
      seen[current] = 'folder';
      for (const name of readdirSync(current)) visit(join(current, name));
    } else if (stat.isSymbolicLink()) seen[current] = `-> ${readlinkSync(current)}`;
    else if (stat.isFile()) seen[current] = createHash('sha256').update(readFileSync(current)).digest('hex');
    else seen[current] = 'special';
  };
  visit(path);
  return seen;
}

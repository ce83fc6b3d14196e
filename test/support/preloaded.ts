import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A library in C that processes load first. */
export interface Preloaded {
  /** A folder of its own, in which it is. */
  readonly root: string;
  readonly environment: Readonly<Record<'LD_PRELOAD', string>>;
  close(): void;
}

/** `source`: below `test/fixtures`. undefined: there is no compiler here. */
export function openPreloaded(source: string): Preloaded | undefined {
  const root = mkdtempSync(join(tmpdir(), 'squad-preloaded-'));
  const library = join(root, 'library.so');
  const path = join(import.meta.dirname, '../fixtures', source);
  const close = (): void => rmSync(root, { recursive: true, force: true });
  if (spawnSync('cc', ['-shared', '-fPIC', '-o', library, path, '-ldl']).status === 0)
    return { root, environment: { LD_PRELOAD: library }, close };
  close();
  return undefined;
}

import type { CopiedFile } from '../model/copied-file.ts';
import { putCopies, takeOutCopies } from '../substrate/system/files/copied-files.ts';
import type { Copies } from './operations/operation-ports.ts';

/** `kept`: the folder with their contents. */
export function createCopies(kept: string, files: readonly CopiedFile[] = []): Copies {
  return {
    put: async ({ path, repository }) => (repository === true ? putCopies(kept, path, files) : undefined),
    takeOut: async ({ path, repository }) => (repository === true ? takeOutCopies(path, files) : undefined),
  };
}

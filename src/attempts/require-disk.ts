import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, storageError } from '../model/storage-error.ts';

const PROBE_BYTES = 64 * 1024;

/**
 * Throws `storage-full` or `storage-refused` when the folder takes no write now: whatever has failed may have failed of
 * that, and would fail again until every try is used up.
 */
export async function requireDisk(directory: string): Promise<void> {
  const probe = join(directory, '.probe');
  try {
    await writeFile(probe, Buffer.alloc(PROBE_BYTES, 1), { mode: 0o600 });
  } catch (error) {
    // A folder that is gone says nothing of the disk.
    if (errorCode(error) !== 'ENOENT') throw storageError(directory, error);
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

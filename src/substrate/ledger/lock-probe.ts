import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isSquadError } from '../../model/errors.ts';
import { closeDb, openDb } from './open-db.ts';
import { LOCK_APPLICATION_ID, readLockHolder } from './workspace-lock.ts';

/**
 * Whether another process drives the workspace, and since when, without taking its lock: whoever holds it keeps readers
 * out as well. null: nobody does; a name that a dead holder left behind is no holder.
 */
export function probeLock(directory: string): { readonly since: number } | null {
  const path = join(directory, 'lock.db');
  if (!existsSync(path)) return null;
  try {
    closeDb(openDb(path, { applicationId: LOCK_APPLICATION_ID, journal: 'rollback', busyMs: 0, readOnly: true }));
    return null;
  } catch (error) {
    if (!isSquadError(error)) throw error;
    if (error.code === 'workspace-busy') return { since: readLockHolder(directory)?.since ?? 0 };
    // Made by somebody who died before anything was in it.
    if (error.code === 'usage') return null;
    throw error;
  }
}

import { mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { storageError } from '../model/storage-error.ts';
import { equipmentFolder } from '../substrate/system/files/run-files.ts';

/** The folders in which the servers and hooks of turns start: one for each turn, outside of every repository and agent's folder. */
export interface EquipmentPlaces {
  readonly of: (attemptId: string) => string;
  /** Empty, and for this user alone. */
  make(attemptId: string): Promise<void>;
  remove(attemptId: string): void;
}

/** `directory`: the repository's state. */
export function equipmentPlaces(directory: string, runId: string): EquipmentPlaces {
  const of = (attemptId: string): string => join(equipmentFolder(directory, runId), attemptId);
  return {
    of,
    make: async (attemptId) => {
      const place = of(attemptId);
      try {
        await rm(place, { recursive: true, force: true });
        await mkdir(place, { recursive: true, mode: 0o700 });
      } catch (error) {
        throw storageError(place, error);
      }
    },
    remove: (attemptId) => {
      const place = of(attemptId);
      // Those of the run's other turns may be there still.
      const removed = rm(place, { recursive: true, force: true }).then(async () => rmdir(dirname(place)));
      removed.catch(() => undefined);
    },
  };
}

import { lstatSync } from 'node:fs';

/** Something is there, even if it is a dangling link or unreadable. */
export async function exists(path: string): Promise<boolean> {
  try {
    // A wait for another thread takes longer than the look.
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

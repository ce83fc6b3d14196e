import { lstatSync } from 'node:fs';
import { orNothing } from './odd-entry.ts';

/** Something is there, even if it is a dangling link or unreadable. */
export async function exists(path: string): Promise<boolean> {
  // A wait for another thread takes longer than the look.
  return orNothing(() => lstatSync(path)) !== undefined;
}

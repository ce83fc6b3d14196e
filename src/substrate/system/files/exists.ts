import { lstat } from 'node:fs/promises';

/** Something is there, even if it is a dangling link or unreadable. */
export async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

import { lstatSync } from 'node:fs';
import { z } from 'zod';

/** A lock as it was seen: no other file has both numbers, not even a later one of the same name. */
export const lockSchema = z.object({ path: z.string(), inode: z.string(), changed: z.string() });
export type TakenLock = z.infer<typeof lockSchema>;

/** undefined: there is no such lock. */
export function lookAtLock(path: string): TakenLock | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : { path, inode: String(found.ino), changed: String(found.ctimeNs) };
}

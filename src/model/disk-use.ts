import { z } from 'zod';
import { byteCount } from '../text/byte-count.ts';

const bytes = z.int().nonnegative();

/** The space that squad takes on the disk for one repository, in bytes, as it was measured last. */
export const diskUseSchema = z.strictObject({
  /** Epoch ms. */
  measuredAt: z.int(),
  /** Folders of tasks, and those that wait for the next ones. */
  folders: bytes,
  /** In the repository: those that only refs of squad have. null: git could not say it. */
  objects: bytes.nullable(),
  /** Prompts and output of turns and checks. */
  output: bytes,
  /** With checkpoints, backups and the ballast. */
  ledger: bytes,
  /** Reports, copied files and the rest. */
  others: bytes,
});
export type DiskUse = z.infer<typeof diskUseSchema>;

/** `1.2 GB: folders 1.1 GB, …` */
export function diskText({ folders, objects, output, ledger, others }: DiskUse): string {
  const all = folders + (objects ?? 0) + output + ledger + others;
  const parts = { folders, objects, output, ledger, others };
  const texts = Object.entries(parts).map(([name, size]) => `${name} ${size === null ? 'not known' : byteCount(size)}`);
  return `${byteCount(all)}: ${texts.join(', ')}`;
}

/** Bytes that are free again. Objects do not count: git removes them later, when it tidies by itself. */
export function freedBytes(before: DiskUse, after: DiskUse): number {
  const sum = ({ folders, output, ledger, others }: DiskUse): number => folders + output + ledger + others;
  return Math.max(0, sum(before) - sum(after));
}

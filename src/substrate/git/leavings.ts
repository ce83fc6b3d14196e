import type { PlainFolder } from '../system/files/plain-folder.ts';

/** Folders that programs of runtimes keep in the folder of a turn. They are no work: no commit has them, and no one is asked for them. */
const LEAVINGS: readonly string[] = [
  // claude, for its file tools.
  '.claude/.cc-writes',
];

/** Rules of git that ignore them. */
export const IGNORE_LEAVINGS = LEAVINGS.map((path) => `**/${path}/\n`).join('');

/** Whether nothing but leavings is at this path or below it. */
export function isLeaving(plain: PlainFolder, path: string): boolean {
  const place = `/${path}`;
  if (LEAVINGS.some((one) => place.endsWith(`/${one}`))) return true;
  const isAbove = LEAVINGS.some((one) => one.startsWith(`${place.slice(place.lastIndexOf('/') + 1)}/`));
  const inside = isAbove ? (plain.list(path) ?? []) : [];
  return inside.length > 0 && inside.every(({ name }) => isLeaving(plain, `${path}/${name}`));
}

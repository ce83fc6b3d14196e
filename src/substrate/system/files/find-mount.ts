import { existsSync, readFileSync } from 'node:fs';

const TABLE = '/proc/self/mountinfo';

/** A place at or below a folder, by its real path, where something else is mounted. undefined: there is none that this process sees. */
export function findMount(folder: string): string | undefined {
  const table = existsSync(TABLE) ? readFileSync(TABLE, 'latin1') : '';
  // Most machines have a few dozen, and none of them is in a folder of a task.
  const bytes = Buffer.from(folder).toString('latin1');
  if (!table.includes(/^[^\t\n \\]*/.exec(bytes)?.[0] ?? '')) return undefined;
  const places = table.split('\n').map((line) => plain(line.split(' ')[4] ?? ''));
  return places.find((place) => place === folder || place.startsWith(`${folder}/`));
}

/** The kernel writes the bytes of a path, some of them as octal numbers. */
function plain(field: string): string {
  const bytes = field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  return Buffer.from(bytes, 'latin1').toString();
}

import { readFileSync } from 'node:fs';
import { orNothing } from './odd-entry.ts';

/** A place at or below a folder, by its real path, where something else is mounted. undefined: there is none that this process sees. */
export function findMount(folder: string): string | undefined {
  const table = orNothing(() => readFileSync('/proc/self/mountinfo', 'latin1'));
  // Most machines have a few dozen, and none of them is in a folder of a task.
  if (table === undefined || !table.includes(escaped(folder))) return undefined;
  const places = table.split('\n').map((line) => plain(line.split(' ')[4] ?? ''));
  return places.find((place) => place === folder || place.startsWith(`${folder}/`));
}

/** As the kernel writes a path there: its bytes, and some of them as octal numbers. */
function escaped(path: string): string {
  const bytes = Buffer.from(path).toString('latin1');
  return bytes.replaceAll(/[\t\n \\]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

function plain(field: string): string {
  const bytes = field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  return Buffer.from(bytes, 'latin1').toString();
}

import { DEVICE } from './file-name.ts';

const MOST_CHARACTERS = 1024;
const MOST_BYTES_OF_A_NAME = 255;

/**
 * Why this untrusted text cannot be a path below a folder; undefined: it can. Refuses on every system what any system would read
 * differently.
 */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.length > MOST_CHARACTERS) return `is longer than ${MOST_CHARACTERS} characters`;
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return 'holds a control character';
  if (!path.isWellFormed()) return 'is no well-formed text';
  if (path.normalize('NFC') !== path) return 'is not in Unicode’s normal form (NFC)';
  if (path.includes('\\')) return 'holds a backslash';
  if (path.includes(':')) return 'holds a colon, as a drive does';
  if (path.startsWith('/')) return 'is absolute';
  for (const name of path.split('/')) {
    const problem = nameProblem(name);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function nameProblem(name: string): string | undefined {
  if (name === '') return 'has a part without a name';
  if (name === '.' || name === '..') return `has the part “${name}”`;
  if (/[. ]$/.test(name)) return 'has a part that ends in a dot or a space';
  if (DEVICE.test(name)) return 'has a part that Windows takes for a device';
  if (Buffer.byteLength(name) > MOST_BYTES_OF_A_NAME) return `has a part of more than ${MOST_BYTES_OF_A_NAME} bytes`;
  return undefined;
}

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * The text of a file. Throws with a code of the system for what is no file: to read a pipe in its place would let this process wait
 * for ever.
 */
export async function readPlain(path: string, encoding: BufferEncoding = 'utf8'): Promise<string> {
  return readPlainSync(path, encoding);
}

export function readPlainSync(path: string, encoding: BufferEncoding = 'utf8'): string {
  const file = openSync(path, READ);
  try {
    if (!fstatSync(file).isFile()) throw notAFile(path);
    return readFileSync(file, encoding);
  } finally {
    closeSync(file);
  }
}

function notAFile(path: string): Error {
  return Object.assign(new Error(`EINVAL: ${path} is not a file`), { code: 'EINVAL' });
}

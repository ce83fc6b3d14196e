import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** A file of squad's state as it was written, one character for each byte. Raw output may be compressed by now. */
export function readKept(path: string): string {
  const found = existsSync(path) || path.endsWith('.gz') ? path : `${path}.gz`;
  const bytes = readFileSync(found);
  return (found.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1');
}

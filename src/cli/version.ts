import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** The version of squad. */
export function version(): string {
  const path = findPackageJSON(import.meta.url) ?? '';
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}

import { accessSync, constants } from 'node:fs';

/** Tests get a PATH of their own. */
const PLACES = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];

/** The real GitHub CLI of this machine. undefined: it, or openssl for a certificate, is not installed. */
export function findGh(): string | undefined {
  return findProgram('openssl') === undefined ? undefined : findProgram('gh');
}

export function findProgram(name: string): string | undefined {
  return PLACES.map((folder) => `${folder}/${name}`).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

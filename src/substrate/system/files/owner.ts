import { readFileSync, statSync } from 'node:fs';

/** Who a file or folder belongs to, where that is another user than this one; undefined: it is this one's, or not known. */
export function foreignOwner(path: string): string | undefined {
  try {
    const { uid } = statSync(path);
    return uid === process.geteuid?.() ? undefined : userName(uid);
  } catch {
    return undefined;
  }
}

function userName(uid: number): string {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    const name = lines.map((line) => line.split(':')).find(([, , id]) => id === String(uid))?.[0];
    if (name !== undefined) return name;
  } catch {
    // Users may be listed elsewhere.
  }
  return `the user with the id ${uid}`;
}

import { readConfinedStart } from '../files/open-confined.ts';

/** Longer than any path that the system takes. */
const MOST_BYTES = 8192;

/** What the `.git` file of a folder that an agent can write to says; undefined: it is no such file. */
export async function readPointer(folder: string): Promise<string | undefined> {
  const read = await readConfinedStart(folder, '.git', MOST_BYTES);
  return read?.cut === false ? /^gitdir: (.+)\n?$/.exec(read.text)?.[1] : undefined;
}

import { join } from 'node:path';
import { z } from 'zod';
import { readPlain } from '../../substrate/system/files/read-plain.ts';
import { writeWhole } from '../../substrate/system/files/run-files.ts';
import { parseJson } from '../../text/json.ts';

/** In the state folder of the machine: the facts that its person has read. */
const FILE = 'said.json';
/** The oldest beyond this number are said again. */
const MOST = 200;

const saidSchema = z.object({ version: z.literal(1), said: z.array(z.string()) });

/**
 * Drops the notes on facts that a person on this machine has read before, and remembers the others. A fact is said once more
 * where that cannot be read or stored.
 */
export async function notesToSay<Note extends { readonly text: string; readonly once?: string | undefined }>(
  stateDirectory: string,
  notes: readonly Note[],
): Promise<readonly Note[]> {
  const path = join(stateDirectory, FILE);
  const text = await readPlain(path).catch(() => '');
  const said = saidSchema.safeParse(parseJson(text)).data?.said ?? [];
  const left = notes.filter(({ once }) => once === undefined || !said.includes(once));
  const fresh = left.flatMap(({ once }) => (once === undefined ? [] : [once]));
  if (fresh.length > 0) {
    const content = { version: 1, said: [...said, ...fresh].slice(-MOST) };
    await writeWhole(path, `${JSON.stringify(content)}\n`).catch(() => undefined);
  }
  return left;
}

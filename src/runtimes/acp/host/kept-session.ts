import { readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Gives the file of a session (`session-<minute>-<start of its id>.jsonl`) a name that no new file gets. Agents find it by its
 * content.
 */
export function keepSession(folder: string, id: string): void {
  const end = `-${id.slice(0, 8)}.jsonl`;
  const files = filesIn(folder).filter((file) => basename(file).startsWith('session-') && file.endsWith(end));
  // The first one has the conversation; each later one is empty.
  const [first] = files.toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1));
  if (first !== undefined) renameSync(join(folder, first), join(folder, dirname(first), `session-0${end}`));
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    // There was no session yet.
    return [];
  }
}

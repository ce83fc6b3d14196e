import { readConfinedStart } from '../../substrate/system/files/open-confined.ts';

/** A note of the repository for coding agents. */
export interface RepositoryNote {
  readonly name: string;
  readonly text: string;
}

/** Bytes. */
const MAX_NOTE = 64 * 1024;

/**
 * AGENTS.md and CLAUDE.md: data, never configuration. Reads regular files at the top of the workspace, and links that stay
 * inside. Each is cut at 64 KiB; equal texts count once.
 */
export async function readNotes(workspace: string): Promise<RepositoryNote[]> {
  const notes: RepositoryNote[] = [];
  for (const name of ['AGENTS.md', 'CLAUDE.md']) {
    const read = await readConfinedStart(workspace, name, MAX_NOTE);
    const text = read?.cut === true ? `${read.text}\n[cut at 64 KiB]` : (read?.text ?? '');
    if (text.trim() !== '' && !notes.some((other) => other.text === text)) notes.push({ name, text });
  }
  return notes;
}

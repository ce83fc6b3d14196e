import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Bytes. */
const MAX_DOCUMENT = 64 * 1024;

/**
 * The repository's own notes for agents: data for the agent, never configuration.
 * Regular files at the top of the workspace; a link counts only if it stays inside. Capped; equal texts count once.
 */
export async function readDocuments(workspace: string): Promise<{ name: string; text: string }[]> {
  const documents: { name: string; text: string }[] = [];
  for (const name of ['AGENTS.md', 'CLAUDE.md']) {
    const text = await readDocument(workspace, name);
    if (text !== undefined && text.trim() !== '' && !documents.some((other) => other.text === text)) {
      documents.push({ name, text });
    }
  }
  return documents;
}

async function readDocument(workspace: string, name: string): Promise<string | undefined> {
  try {
    const path = await realpath(join(workspace, name));
    if (!path.startsWith(`${await realpath(workspace)}${sep}`)) return undefined;
    // Not blocking, so that a pipe planted there cannot hold the turn up.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!(await file.stat()).isFile()) return undefined;
      const buffer = Buffer.alloc(MAX_DOCUMENT + 1);
      const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
      const text = buffer.toString('utf8', 0, Math.min(bytesRead, MAX_DOCUMENT));
      return bytesRead > MAX_DOCUMENT ? `${text}\n[cut at 64 KiB]` : text;
    } finally {
      await file.close();
    }
  } catch {
    // No such file, or one that cannot be read: the turn goes on without it, as it would in a repository without notes.
    return undefined;
  }
}

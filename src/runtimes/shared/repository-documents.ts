import { readConfinedStart } from '../../substrate/files/open-confined.ts';

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
  // Without such a file the turn goes on as it would in a repository without notes.
  const read = await readConfinedStart(workspace, name, MAX_DOCUMENT);
  return read?.cut === true ? `${read.text}\n[cut at 64 KiB]` : read?.text;
}

import { sha256Of } from '../model/sha256.ts';
import type { DocumentFacts, EvidenceFacts } from '../model/plan/evidence.ts';
import type { Requirement } from '../model/plan/task.ts';
import { documentProblems } from './document-problems.ts';
import type { OperationPorts } from './operation-ports.ts';

/** A larger document is refused without being read. */
const MOST_KIB = 256;

/** The required documents as they are in the commit, whatever the folder shows. */
export async function documentsOf(
  { workspaces }: Pick<OperationPorts, 'workspaces'>,
  requires: readonly Requirement[],
  commit: string,
): Promise<Pick<EvidenceFacts, 'documents'>> {
  const wanted = requires.flatMap((one) => (one.kind === 'document' ? [one] : []));
  if (wanted.length === 0) return {};
  const documents = await Promise.all(
    wanted.map(async ({ path, headings }) =>
      factsOf(path, headings, await workspaces.readFileAt(commit, path, MOST_KIB * 1024)),
    ),
  );
  return { documents };
}

const UNREAD = {
  absent: 'the document is not in your commit',
  'not-a-file': 'a folder, link or submodule is there, not a file',
  'too-large': `the document is larger than ${MOST_KIB} KiB; shorten it`,
} as const;

function factsOf(path: string, headings: readonly string[], content: Uint8Array | keyof typeof UNREAD): DocumentFacts {
  const unread = { path, sha256: null, bytes: 0 };
  if (typeof content === 'string') return { ...unread, problems: [`${path}: ${UNREAD[content]}`] };
  const sha256 = sha256Of(content);
  const problems = documentProblems(content, headings).map((problem) => `${path}: ${problem}`);
  return { path, sha256, bytes: content.length, problems };
}

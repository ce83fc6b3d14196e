import { sha256Of } from '../../model/sha256.ts';
import type { DocumentFacts, EvidenceFacts } from '../../model/plan/evidence.ts';
import type { Requirement } from '../../model/plan/task.ts';
import { documentProblems } from './document-problems.ts';
import { documentTexts, type DocumentTexts } from './document-texts.ts';
import type { OperationPorts } from './operation-ports.ts';

/** A larger document is refused without being read. */
const MOST_KIB = 256;

/** The required documents as they are in the commit, whatever the folder shows. */
export async function documentsOf(
  { workspaces, definition }: Pick<OperationPorts, 'workspaces' | 'definition'>,
  requires: readonly Requirement[],
  commit: string,
): Promise<Pick<EvidenceFacts, 'documents'>> {
  const wanted = requires.flatMap((one) => (one.kind === 'document' ? [one] : []));
  if (wanted.length === 0) return {};
  const texts = documentTexts(definition.mail.locale);
  const documents = await Promise.all(
    wanted.map(async ({ path, headings }) =>
      factsOf(path, headings, await workspaces.readFileAt(commit, path, MOST_KIB * 1024), texts),
    ),
  );
  return { documents };
}

function unreadText(why: 'absent' | 'not-a-file' | 'too-large', texts: DocumentTexts): string {
  if (why === 'too-large') return texts.tooLarge(MOST_KIB);
  return why === 'absent' ? texts.absent : texts.notAFile;
}

function factsOf(
  path: string,
  headings: readonly string[],
  content: Uint8Array | Parameters<typeof unreadText>[0],
  texts: DocumentTexts,
): DocumentFacts {
  const unread = { path, sha256: null, bytes: 0 };
  if (typeof content === 'string') return { ...unread, problems: [`${path}: ${unreadText(content, texts)}`] };
  const sha256 = sha256Of(content);
  const problems = documentProblems(content, headings, texts).map((problem) => `${path}: ${problem}`);
  return { path, sha256, bytes: content.length, problems };
}

import { sha256Of } from '../model/sha256.ts';
import type { Board } from '../model/plan/board.ts';
import { deliveredDocuments, INDEX, indexFile, type CopiedDocument } from '../report/files/artifact-files.ts';
import type { StageOf } from '../report/files/stage-of.ts';
import type { WrittenFolder } from '../substrate/files/written-folder.ts';
import type { Workspaces } from '../substrate/ports/workspaces.ts';

/** Evidence refuses documents of more than 256 KiB, but a person may have accepted one. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Copies the bytes of delivered documents to `artifacts/` and lists them in its index. Reads each from git once. Returns the names
 * of the copies.
 */
export function createArtifacts(
  workspaces: Pick<Workspaces, 'readFileAt'>,
  folder: WrittenFolder,
): (board: Board, stageOf: StageOf) => Promise<readonly string[]> {
  const copies = new Map<string, CopiedDocument>();
  return async (board, stageOf) => {
    const listed: CopiedDocument[] = [];
    for (const document of deliveredDocuments(board, stageOf)) {
      const { name, path, commit } = document;
      const known = copies.get(path);
      if (known?.commit === commit) {
        listed.push(known);
        continue;
      }
      const bytes = await workspaces.readFileAt(commit, path, MOST_BYTES);
      // Accepted by a person, although it is not there.
      if (typeof bytes === 'string') continue;
      await folder.put(`artifacts/${name}`, bytes);
      const copy = { ...document, sha256: sha256Of(bytes), bytes: bytes.byteLength };
      copies.set(path, copy);
      listed.push(copy);
    }
    const index = listed.length === 0 ? [] : [indexFile(listed)];
    for (const { path, text } of index) await folder.put(path, text);
    const names = listed.map(({ name }) => name);
    await folder.keepOnly('artifacts', [...names, ...index.map(() => INDEX)]);
    return names;
  };
}

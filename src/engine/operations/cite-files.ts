import type { Cited } from '../../model/plan/review.ts';
import type { CitedFiles } from '../../rules/findings.ts';
import type { Workspaces } from '../../substrate/ports/workspaces.ts';
import type { OperationPorts } from './operation-ports.ts';

/** In a larger file each line counts. */
const MOST_READ = 8 * 1024 * 1024;

/** The lines of files in a commit. `none`: there is no such file. `many`: they were not counted. */
export async function countLines(
  workspaces: Pick<Workspaces, 'readFileAt'>,
  commit: string,
  files: readonly string[],
): Promise<ReadonlyMap<string, number | 'none' | 'many'>> {
  const counts = new Map<string, number | 'none' | 'many'>();
  for (const file of new Set(files)) {
    const content = await workspaces.readFileAt(commit, file, MOST_READ);
    counts.set(file, typeof content !== 'string' ? linesIn(content) : content === 'too-large' ? 'many' : 'none');
  }
  return counts;
}

function linesIn(content: Uint8Array): number {
  const ends = content.reduce((count, byte) => (byte === 10 ? count + 1 : count), 0);
  return content.length === 0 || content.at(-1) === 10 ? ends : ends + 1;
}

/** The files that a review names, as its commit has them. A fault that does not end the engine leaves them unknown. */
export async function citeFiles(
  { workspaces, fault }: OperationPorts,
  { commit, bases, files }: CitedFiles,
): Promise<Cited> {
  try {
    const counts = [...(await countLines(workspaces, commit, files))];
    const changes = await Promise.all(bases.map(async (base) => workspaces.changedFiles(base, commit)));
    const isChanged = new Set(bases.length === 0 ? files : changes.flat().map(({ path }) => path));
    return Object.fromEntries(
      counts.flatMap(([file, count]) =>
        count === 'many' ? [] : [[file, { lines: count === 'none' ? null : count, changed: isChanged.has(file) }]],
      ),
    );
  } catch (error) {
    if (fault === undefined) throw error;
    await fault(error);
    return {};
  }
}

import { changedCheckers, type FoundChange } from '../../model/checker/changed-checkers.ts';
import { withBaseParts } from '../../model/checker/base-manifest.ts';
import { baseName } from '../../model/checker/repository-path.ts';
import { checkedWith } from '../../model/checker/checked-with.ts';
import type { CheckedWith } from '../../model/checker/checker-part.ts';
import type { Board } from '../../model/plan/board.ts';
import type { CheckerChange, CheckerWord } from '../../model/plan/checker.ts';
import type { LineChange } from '../../substrate/ports/changes.ts';
import type { OperationPorts } from './operation-ports.ts';

/** Larger scripts and manifests are not read, so only their own change counts. */
const MOST_READ = 256 * 1024;
/** Scripts that name scripts are followed so far. */
const MOST_ROUNDS = 12;

export function checkingCommands(
  { definition: { verify } }: Pick<OperationPorts, 'definition'>,
  { facts }: Pick<Board, 'facts'>,
): string[] {
  return [...verify.map(({ run }) => run), ...facts.objective.criteria.flatMap(({ command }) => command ?? [])];
}

/** The files among the changes between two commits with which the commands check, and those that are protected. */
export async function findCheckers(
  { workspaces, definition }: OperationPorts,
  commands: readonly string[],
  { base, commit }: { readonly base: string; readonly commit: string },
): Promise<FoundChange[]> {
  const { protect = [] } = definition;
  if (commands.length + protect.length === 0 || base === commit) return [];
  const changes = await workspaces.changedFiles(base, commit);
  if (changes.length === 0) return [];
  const changed = new Set(changes.map(({ path }) => path));
  const read = async (at: string, path: string): Promise<string | null> => textAt(workspaces, at, path);
  const before = new Map<string, string | null>();
  const after = new Map<string, string | null>();
  for (let round = 0; ; round += 1) {
    const then = checkedWith(commands, (path) => before.get(path));
    const now = checkedWith(commands, (path) => after.get(path));
    const wants = new Set([...wantedBy(then, before), ...wantedBy(now, after)]);
    if (wants.size === 0 || round === MOST_ROUNDS) return changedCheckers(changes, { base: then, now }, protect);
    for (const path of wants) {
      before.set(path, await read(base, path));
      after.set(path, changed.has(path) ? await read(commit, path) : (before.get(path) ?? null));
    }
  }
}

function wantedBy({ wants }: CheckedWith, known: ReadonlyMap<string, unknown>): string[] {
  return [...wants].filter((path) => !known.has(path));
}

/** Adds the changed lines, and the words of reviewers about exactly this content. */
export async function describeCheckers(
  { workspaces }: OperationPorts,
  found: readonly FoundChange[],
  { base, commit, words }: { readonly base: string; readonly commit: string; readonly words: readonly CheckerWord[] },
): Promise<CheckerChange[]> {
  if (found.length === 0) return [];
  const now = byPath(await workspaces.changedLines(base, commit));
  const contents = new Map<string, ReadonlyMap<string, LineChange>>();
  for (const judged of new Set(words.map((word) => word.commit))) {
    contents.set(judged, judged === commit ? now : byPath(await workspaces.changedLines(base, judged)));
  }
  return withoutDoubles(
    found.flatMap(({ path, part, isProtected }): CheckerChange[] => {
      const change = now.get(path);
      if (change === undefined) return [];
      const accepted = words.flatMap((word) => {
        const seen = contents.get(word.commit)?.get(word.path);
        const isSame = seen?.object === change.object && seen.path === change.path;
        return isSame && word.accepted ? [word.by] : [];
      });
      const { status, to, added, removed } = change;
      return [
        {
          ...{ path: change.path, status, added, removed },
          ...(to === undefined ? {} : { to }),
          ...(part === undefined ? {} : { part }),
          ...(isProtected ? { protected: true as const } : {}),
          ...(accepted.length === 0 ? {} : { accepted: [...new Set(accepted)] }),
        },
      ];
    }),
  );
}

/** Files that restore the checks as they were: the content to write, or null for the file as the base has it. */
export async function filesAtBase(
  { workspaces }: OperationPorts,
  checkers: readonly CheckerChange[],
  { base, commit }: { readonly base: string; readonly commit: string },
): Promise<ReadonlyMap<string, string | null>> {
  const files = new Map<string, string | null>();
  for (const { path, to, part } of checkers) {
    files.set(path, null);
    if (to !== undefined) files.set(to, null);
    if (part === undefined || baseName(path) !== 'package.json') continue;
    const [now, before] = [await textAt(workspaces, commit, path), await textAt(workspaces, base, path)];
    files.set(path, withBaseParts(now ?? '', before ?? '', part.split(', ')) ?? null);
  }
  return files;
}

async function textAt(workspaces: OperationPorts['workspaces'], at: string, path: string): Promise<string | null> {
  const content = await workspaces.readFileAt(at, path, MOST_READ);
  return typeof content === 'string' ? null : new TextDecoder().decode(content);
}

/** By both paths of a rename. */
function byPath(changes: readonly LineChange[]): ReadonlyMap<string, LineChange> {
  return new Map(
    changes.flatMap((one) => [one.path, ...(one.to === undefined ? [] : [one.to])].map((path) => [path, one])),
  );
}

/** Both paths of a rename may count. */
function withoutDoubles(changes: readonly CheckerChange[]): CheckerChange[] {
  return changes.filter((one, index) => changes.findIndex(({ path }) => path === one.path) === index);
}

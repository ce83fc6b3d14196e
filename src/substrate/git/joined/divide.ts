import { OTHERS } from '../../../model/repositories.ts';
import { startCommitReader } from '../repository-talk.ts';
import { entriesOf, folderLine, type Joined, makeTree, type Part, type TreeEntry } from './joined.ts';

/** The work of a run, in the commits of each repository. */
export interface Divided {
  readonly home: string;
  /** In the order of the repositories. */
  readonly others: readonly string[];
  /** Paths of the work that are in none of them. */
  readonly stray: readonly string[];
}

interface Row {
  readonly commit: string;
  readonly parents: readonly string[];
}

/** The commits that were made so far for one repository. */
interface Line {
  /** By commit of the run. */
  readonly made: Map<string, string>;
  /** By commit of the repository. */
  readonly trees: Map<string, string>;
  /** By commit of the repository: those that it comes after, as far as they are of the run. */
  readonly before: Map<string, ReadonlySet<string>>;
  readonly base: string;
}

/**
 * Makes the commits of a run once more for each repository, with what each changed there: their authors, dates and messages stay, and those
 * that change nothing there are left out. The same work always makes the same commits.
 */
export async function divide(
  joined: Joined,
  { base, head }: { readonly base: string; readonly head: string },
  home: Part,
  others: readonly Part[],
): Promise<Divided> {
  const { git, call } = joined;
  const treeOf = async (commit: string): Promise<string> => git.text(['rev-parse', `${commit}^{tree}`], call);
  const open = async ({ commit }: Part): Promise<Line> => ({
    ...{ made: new Map([[base, commit]]), trees: new Map([[commit, await treeOf(commit)]]) },
    ...{ before: new Map(), base: commit },
  });
  const ofHome = await open(home);
  const ofOthers = await Promise.all(others.map(open));
  const read = createTreeReader(joined);
  const commits = startCommitReader(git, call);
  try {
    for (const row of await rowsOf(joined, base, head)) {
      const raw = await commits.read(row.commit);
      const trees = await read(row.commit);
      await add(joined, ofHome, row, trees.home, raw);
      for (const [index, line] of ofOthers.entries()) {
        await add(joined, line, row, trees.other(others[index]?.name ?? ''), raw);
      }
    }
  } finally {
    commits.close();
  }
  const names = new Set(others.map(({ name }) => name));
  const { inside, isOdd } = await read(head);
  return {
    home: ofHome.made.get(head) ?? home.commit,
    others: ofOthers.map((line) => line.made.get(head) ?? line.base),
    stray: isOdd ? [OTHERS] : inside.flatMap(({ name }) => (names.has(name) ? [] : [`${OTHERS}/${name}`])),
  };
}

async function rowsOf({ git, call }: Joined, base: string, head: string): Promise<Row[]> {
  const order = ['--topo-order', '--reverse', '--no-show-signature', '--format=%H %P'];
  const text = await git.text(['log', ...order, `${base}..${head}`], call);
  return text.split('\n').flatMap((line) => {
    const [commit = '', ...parents] = line.split(' ');
    return commit === '' ? [] : [{ commit, parents }];
  });
}

interface Trees {
  readonly home: string;
  readonly inside: readonly TreeEntry[];
  /** There is a file in the place of the others. */
  readonly isOdd: boolean;
  /** An empty tree where it is gone. */
  other(name: string): string;
}

function createTreeReader(joined: Joined): (commit: string) => Promise<Trees> {
  let empty: string | undefined;
  return async (commit) => {
    empty ??= await makeTree(joined, []);
    const none = empty;
    const top = await entriesOf(joined, commit);
    const place = top.find(({ name }) => name === OTHERS);
    const isFolder = place?.line.startsWith('040000 ') === true;
    const inside = isFolder ? await entriesOf(joined, place.id) : [];
    const home = await makeTree(
      joined,
      top.flatMap(({ name, line }) => (name === OTHERS ? [] : [line])),
    );
    return {
      ...{ home, inside, isOdd: place !== undefined && !isFolder },
      other: (name) => inside.find((one) => one.line === folderLine(name, one.id))?.id ?? none,
    };
  };
}

/** The commit of the repository that stands for one of the run. */
async function add(joined: Joined, line: Line, { commit, parents }: Row, tree: string, raw: Buffer): Promise<void> {
  const { made, trees, before, base } = line;
  const known = [...new Set(parents.flatMap((parent) => made.get(parent) ?? []))];
  // One that another one comes after says nothing more.
  const tops = known.filter((one) => !known.some((other) => before.get(other)?.has(one) === true));
  const [first = base, ...more] = tops;
  if (more.length === 0 && trees.get(first) === tree) return void made.set(commit, first);
  const own = tops.length === 0 ? [base] : tops;
  const id = await writeCommit(joined, tree, own, raw);
  made.set(commit, id);
  trees.set(id, tree);
  before.set(id, new Set(own.flatMap((one) => [one, ...(before.get(one) ?? [])])));
}

/** By bytes: names and messages have any encoding. Signatures do not cover the new commit. */
const KEPT = /^(?:author|committer|encoding) /;

async function writeCommit(
  { git, call, file }: Joined,
  tree: string,
  parents: readonly string[],
  raw: Buffer,
): Promise<string> {
  const end = raw.indexOf('\n\n');
  const kept = raw
    .toString('latin1', 0, end)
    .split('\n')
    .filter((text) => KEPT.test(text));
  const head = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), ...kept].join('\n');
  const path = await file(Buffer.concat([Buffer.from(head, 'latin1'), raw.subarray(end)]));
  return git.text(['hash-object', '-t', 'commit', '-w', '--no-filters', path], call);
}

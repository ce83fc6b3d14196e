import { createHash } from 'node:crypto';
import type { ChangedFile, TaskFolder, Workspaces } from '../../../src/substrate/ports/workspaces.ts';

type Files = ReadonlyMap<string, string>;

interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly files: Files;
  readonly subject: string;
  /** Of the longest way to the first commit. */
  readonly depth: number;
}

interface Folder {
  folder: TaskFolder;
  head: string;
  files: Map<string, string>;
}

/** What an agent does in its folder. */
export interface Deed {
  /** Files that it writes, by path. */
  readonly writes: Readonly<Record<string, string>>;
  /** Files that it deletes. */
  readonly removes?: readonly string[];
  /** The commit that it merges first; it keeps its own side of every conflict. */
  readonly merges?: string | undefined;
  readonly commits: boolean;
}

/** What git shows anybody, and what anybody but the engine may do to it. `point`: to nothing deletes the branch. */
export interface SimulatedGit {
  head(run: string): string | undefined;
  filesAt(commit: string): Files;
  /** A commit and all that are before it. */
  history(commit: string): ReadonlySet<string>;
  /** What a folder stands on; undefined: there is none. */
  headOf(path: string): string | undefined;
  filesIn(path: string): Files | undefined;
  commit(parent: string, change: Pick<Deed, 'writes' | 'removes'>, subject: string): string;
  point(run: string, commit: string | undefined): void;
}

export interface SimulatedRepository {
  readonly workspaces: Workspaces;
  readonly git: SimulatedGit;
  readonly base: string;
  /** In the folder at this path; does nothing where there is none. */
  work(path: string, deed: Deed): void;
  /** As the run branch has them. */
  filesOf(run: string): Files;
  /** How often a branch was moved. */
  readonly moves: readonly { readonly run: string; readonly to: string }[];
}

/**
 * A repository in memory, for simulations alone: whole files, three-way merges by file, branches that move by
 * compare-and-swap. It answers as git would where the engine asks; real git is tested elsewhere. It outlives engines.
 */
export function createSimulatedRepository(): SimulatedRepository {
  const commits = new Map<string, Commit>();
  const folders = new Map<string, Folder>();
  const refs = new Map<string, string>();
  const owners = new Map<string, string>();
  const moves: { run: string; to: string }[] = [];

  const at = (id: string): Commit => {
    const commit = commits.get(id);
    if (commit === undefined) throw new Error(`there is no commit ${id}`);
    return commit;
  };
  const make = (parents: readonly string[], files: Files, subject: string): string => {
    const content = [...files].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const id = createHash('sha1')
      .update(JSON.stringify([parents, content, subject]))
      .digest('hex');
    const depth = parents.reduce((most, parent) => Math.max(most, at(parent).depth + 1), 0);
    commits.set(id, { id, parents, files: new Map(files), subject, depth });
    return id;
  };
  const ancestors = (id: string): Set<string> => {
    const found = new Set<string>();
    const queue = [id];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (found.has(next)) continue;
      found.add(next);
      queue.push(...at(next).parents);
    }
    return found;
  };
  const mergeBase = (one: string, other: string): string | undefined => {
    const shared = ancestors(other);
    return [...ancestors(one)].filter((id) => shared.has(id)).toSorted((a, b) => at(b).depth - at(a).depth)[0];
  };
  const changed = (base: Files, files: Files): ChangedFile[] =>
    [...new Set([...base.keys(), ...files.keys()])].toSorted().flatMap((path): ChangedFile[] => {
      if (base.get(path) === files.get(path)) return [];
      return [{ path, status: !base.has(path) ? 'added' : files.has(path) ? 'modified' : 'deleted' }];
    });
  const merge = (ours: string, theirs: string): { files: Files; conflicts: string[] } => {
    const base = at(mergeBase(ours, theirs) ?? ours).files;
    const mine = at(ours).files;
    const files = new Map(mine);
    const conflicts: string[] = [];
    for (const { path } of changed(base, at(theirs).files)) {
      const wanted = at(theirs).files.get(path);
      if (mine.get(path) !== base.get(path) && mine.get(path) !== wanted) conflicts.push(path);
      else if (wanted === undefined) files.delete(path);
      else files.set(path, wanted);
    }
    return { files, conflicts };
  };
  const base = make([], new Map([['readme.md', 'a repository']]), 'first');
  const branch = (run: string): string => `refs/heads/squad/${run}`;
  const keyOf = (run: string, task: string): string => `/simulated/${run}/${task}`;
  const folderOf = ({ run, task }: Pick<TaskFolder, 'run' | 'task'>): Folder => {
    const folder = folders.get(keyOf(run, task));
    if (folder === undefined) throw new Error(`there is no folder ${keyOf(run, task)}`);
    return folder;
  };
  const folderAt = (run: string, task: string, commit: string): TaskFolder => ({
    run,
    task,
    base: commit,
    workspace: {
      path: keyOf(run, task),
      repository: true,
    },
  });
  const rescue = (folder: Pick<TaskFolder, 'run' | 'task'>, attempt: string) => {
    const { head, files } = folderOf(folder);
    const clean = changed(at(head).files, files).length === 0;
    const commit = clean ? head : make([head], files, `what ${attempt} left`);
    refs.set(`refs/squad/${folder.run}/${attempt}`, commit);
    return { type: 'kept', commit, head, clean } as const;
  };

  const workspaces: Workspaces = {
    agentSettings: () => Promise.resolve([]),
    reuseMade: async (_folder, _order, make) => ({ type: (await make()) ? 'made' : 'failed' }),
    namedAt: (commit) => Promise.resolve({ when: [], all: commit }),
    addFolder: async ({ run, task, commit }) => {
      const known = folders.get(keyOf(run, task));
      if (known !== undefined) return known.folder;
      const folder = folderAt(run, task, commit);
      folders.set(keyOf(run, task), { folder, head: commit, files: new Map(at(commit).files) });
      return folder;
    },
    moveFolder: async (folder, commit, attempt) => {
      rescue(folder, attempt);
      const moved = folderAt(folder.run, folder.task, commit);
      folders.set(keyOf(folder.run, folder.task), {
        folder: moved,
        head: commit,
        files: new Map(at(commit).files),
      });
      return moved;
    },
    standOn: async (folder, commit) => {
      folderOf(folder).head = at(commit).id;
    },
    snapshot: async (folder) => {
      const { head, files } = folderOf(folder);
      return { type: 'snapshot', head, tree: head, clean: changed(at(head).files, files).length === 0 };
    },
    keepCommits: async (folder, attempt) => {
      const { head } = folderOf(folder);
      refs.set(`refs/squad/${folder.run}/${attempt}`, head);
      return { type: 'head', commit: head, side: { kept: [] } };
    },
    rescue: async (folder, attempt) => rescue(folder, attempt),
    noteCopies: async () => undefined,
    noteIgnored: () => Promise.resolve(),
    ignoredWork: () => Promise.resolve({ paths: [], more: 0 }),
    removeFolder: async (folder, attempt) => {
      const { commit, clean } = rescue(folder, attempt);
      folders.delete(keyOf(folder.run, folder.task));
      return { type: 'removed', kept: commit, rescued: !clean };
    },
    resetFolder: async (folder, { commit, attempt, rescueAs }) => {
      if (folderOf(folder).folder.resetFor === attempt) return { type: 'ready', folder };
      rescue(folder, rescueAs);
      const fresh = { ...folderAt(folder.run, folder.task, commit), resetFor: attempt };
      folders.set(keyOf(folder.run, folder.task), {
        folder: fresh,
        head: commit,
        files: new Map(at(commit).files),
      });
      return { type: 'ready', folder: fresh, rescued: `refs/squad/${folder.run}/${rescueAs}` };
    },
    keepAttempt: async (run, attempt, commit) => void refs.set(`refs/squad/${run}/${attempt}`, at(commit).id),
    createRunBranch: async (run, from, _pins, owner) => {
      const head = refs.get(branch(run));
      const isOwn = owner !== undefined && owners.get(run) === owner;
      if (head !== undefined && head !== from) return isOwn ? { type: 'ready' } : { type: 'taken', head };
      if (owner !== undefined) owners.set(run, owner);
      refs.set(branch(run), from);
      moves.push({ run, to: from });
      return { type: 'ready', created: head === undefined };
    },
    dropBranch: async (run, head) => refs.get(branch(run)) === head && refs.delete(branch(run)),
    checkoutOf: async () => undefined,
    runHead: async (run) => refs.get(branch(run)),
    integrate: async ({ run, commit, message }) => {
      const onto = refs.get(branch(run));
      if (onto === undefined) return { type: 'refused', reason: 'gone' };
      if (ancestors(onto).has(commit)) return { type: 'empty', onto };
      if (ancestors(commit).has(onto)) return { type: 'candidate', commit, onto };
      const { files, conflicts } = merge(onto, commit);
      const told = conflicts.map((path) => ({ path, excerpt: '' }));
      if (conflicts.length > 0) return { type: 'conflict', onto, files: told, messages: [] };
      return { type: 'candidate', commit: make([onto, commit], files, message), onto };
    },
    integrationAt: async (run, candidate) => {
      const folder = folderAt(run, '_integration', at(candidate).id);
      folders.set(keyOf(run, '_integration'), { folder, head: candidate, files: new Map(at(candidate).files) });
      return folder;
    },
    // A command changes no file in the simulation.
    noteMade: async () => undefined,
    hasMade: async () => true,
    bringBack: async () => ({ changed: [], more: 0, isWhole: true }),
    makeAnew: async (folder) => folder,
    baselineAt: async (run, commit) => {
      const folder = folderAt(run, '_baseline', at(commit).id);
      folders.set(keyOf(run, '_baseline'), { folder, head: commit, files: new Map(at(commit).files) });
      return folder;
    },
    tidySpares: () => Promise.resolve(false),
    dropSpares: () => Promise.resolve(0),
    dropBaseline: async (run) => void folders.delete(keyOf(run, '_baseline')),
    advance: async (run, from, to) => {
      const head = refs.get(branch(run));
      if (head === to) return { type: 'advanced' };
      if (head !== from) return { type: 'moved', head };
      refs.set(branch(run), at(to).id);
      moves.push({ run, to });
      return { type: 'advanced' };
    },
    closeRun: async () => [],
    listFolders: async (run) =>
      [...folders.values()].flatMap(({ folder: { run: of, task, workspace } }) =>
        of === run ? { run, task, path: workspace.path, isHalfMade: false } : [],
      ),
    dropRefs: async () => ({ attempts: 0, branch: { type: 'absent' }, foreign: [] }),
    close: async () => undefined,
    commitsBetween: async (from, to) => {
      const before = ancestors(from);
      return [...ancestors(to)].filter((id) => !before.has(id)).map((id) => ({ commit: id, subject: at(id).subject }));
    },
    changedFiles: async (from, to) => changed(at(from).files, at(to).files),
    overlay: async (_run, { onto, from, files }) => {
      const made = new Map(at(onto).files);
      for (const [path, text] of files) {
        const before = text ?? at(from).files.get(path);
        if (before === undefined) made.delete(path);
        else made.set(path, before);
      }
      return make([onto], made, 'its checks as they were');
    },
    changedLines: async (from, to) =>
      changed(at(from).files, at(to).files).map(({ path, status }) => ({
        ...{ path, status: status === 'retyped' ? 'modified' : status, added: 1, removed: status === 'added' ? 0 : 1 },
        object: at(to).files.get(path) ?? null,
      })),
    diffStat: async (from, to) =>
      changed(at(from).files, at(to).files)
        .map(({ path, status }) => `${path} ${status}`)
        .join('\n'),
    mergeBase: async (one, other) => mergeBase(one, other),
    isAncestor: async (ancestor, commit) => ancestors(commit).has(ancestor),
    isFileAt: async (commit, path) => at(commit).files.has(path),
    readFileAt: async (commit, path, most) => {
      const { files } = at(commit);
      const text = files.get(path);
      if (text === undefined)
        return [...files.keys()].some((one) => one.startsWith(`${path}/`)) ? 'not-a-file' : 'absent';
      return text.length > most ? 'too-large' : new TextEncoder().encode(text);
    },
  };

  return {
    workspaces,
    base,
    moves,
    filesOf: (run) => at(refs.get(branch(run)) ?? base).files,
    git: {
      head: (run) => refs.get(branch(run)),
      filesAt: (commit) => at(commit).files,
      history: ancestors,
      headOf: (path) => folders.get(path)?.head,
      filesIn: (path) => folders.get(path)?.files,
      commit: (parent, { writes, removes = [] }, subject) => {
        const files = new Map([...at(parent).files, ...Object.entries(writes)]);
        for (const name of removes) files.delete(name);
        return make([parent], files, subject);
      },
      point: (run, commit) => void (commit === undefined ? refs.delete(branch(run)) : refs.set(branch(run), commit)),
    },
    work: (path, { writes, removes = [], merges: other, commits: commit }) => {
      const folder = folders.get(path);
      if (folder === undefined) return;
      if (other !== undefined && !ancestors(folder.head).has(other)) {
        const { files } = merge(folder.head, other);
        folder.head = make([folder.head, other], files, 'merge the run branch');
        folder.files = new Map(files);
      }
      for (const [name, text] of Object.entries(writes)) folder.files.set(name, text);
      for (const name of removes) folder.files.delete(name);
      if (!commit || changed(at(folder.head).files, folder.files).length === 0) return;
      folder.head = make([folder.head], folder.files, `work in ${path}`);
    },
  };
}

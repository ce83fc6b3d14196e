import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { openPlainFolder, textOfPath, type PlainEntry, type PlainFolder } from '../system/files/plain-folder.ts';
import type { IgnoreRules } from './ignore-rules.ts';
import type { IndexEntry } from './index-file.ts';
import { readNestedHead } from './nested-repository.ts';
import { LINK_MODE, REPOSITORY_MODE } from './raw-diff.ts';
import type { SettledFolders } from './settled-folders.ts';
import { asUnreadable, UnreadableFolder } from './unreadable-folder.ts';

export interface FoundFile {
  readonly path: string;
  readonly kind: 'file' | 'link';
  /** As the commit has it; undefined: it does not. */
  readonly known: IndexEntry | undefined;
}

interface IgnoredPath {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'folder';
  /** The file of rules that says so. */
  readonly by: string;
}

/** How a folder differs from a commit. Paths have one character for each byte. */
export interface FolderFindings {
  /** Files and links that are new, or may have changed. */
  readonly files: readonly FoundFile[];
  /** Paths of the commit that are gone. */
  readonly gone: readonly string[];
  /** Repositories that are new or at another commit, with the commit at their HEAD. */
  readonly repositories: ReadonlyMap<string, string>;
  /** Those that the commit does not name, also ones whose HEAD cannot be read, if the walk allows these. */
  readonly newRepositories: readonly string[];
  /** Paths that the commit does not have and that are ignored; nothing below them is looked at. */
  readonly ignored: readonly IgnoredPath[];
  /** Folders without a file of the commit, after those in which they are. */
  readonly folders: readonly string[];
  /** Pipes, sockets and the like, which no commit can have. */
  readonly others: readonly string[];
}

export interface Walk {
  readonly folder: string;
  /** The files of the commit, and by the folders that hold them or are above: by path, and by the names in each. */
  readonly entries: ReadonlyMap<string, IndexEntry>;
  readonly folders: ReadonlyMap<string, ReadonlyMap<string, IndexEntry>>;
  /** Those of these files that are not exactly as the engine wrote them. */
  readonly changedOf: (files: PlainFolder, present: readonly IndexEntry[]) => Promise<readonly IndexEntry[]>;
  readonly settled: SettledFolders;
  readonly rules: (files: PlainFolder) => Promise<IgnoreRules>;
  /** A repository of which no commit is known does not end the walk. */
  readonly anyRepository: boolean;
  readonly settings: { readonly ignoreCase: boolean; readonly precompose: boolean };
}

/** Time for other work of the engine, after so many milliseconds. */
const SLICE_MS = 10;
const MOST_MS = 120_000;

/** Walks through a folder without following a link. Throws `UnreadableFolder` if it holds what no commit can. */
export async function walkFolder(walk: Walk): Promise<FolderFindings> {
  const state = new Walker(walk);
  try {
    await state.run();
  } finally {
    await state.close();
  }
  return state.findings();
}

interface Candidate {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'folder';
}

class Walker {
  readonly #walk: Walk;
  readonly #plain: PlainFolder;
  readonly #folded: ReadonlyMap<string, IndexEntry> | undefined;
  /** For each path of the commit, whether it is there; and how many are. A set of the paths would take as long as the walk. */
  readonly #there: Uint8Array;
  #met = 0;
  readonly #files: FoundFile[] = [];
  readonly #present: IndexEntry[] = [];
  readonly #repositories = new Map<string, string>();
  readonly #newRepositories: string[] = [];
  readonly #ignored: IgnoredPath[] = [];
  readonly #folders: string[] = [];
  readonly #others: string[] = [];
  readonly #open: string[] = [''];
  #asked: Candidate[] = [];
  #rules: IgnoreRules | undefined;
  #slice = performance.now();
  readonly #start = performance.now();

  constructor(walk: Walk) {
    this.#walk = walk;
    this.#plain = openPlainFolder(walk.folder);
    this.#there = new Uint8Array(walk.entries.size);
    this.#folded = walk.settings.ignoreCase ? foldAll(walk.entries.values()) : undefined;
  }

  async run(): Promise<void> {
    while (this.#open.length > 0) {
      for (let folder = this.#open.pop(); folder !== undefined; folder = this.#open.pop()) {
        await this.#enter(folder);
        await this.#rest();
      }
      await this.#decide();
    }
    const changed = await this.#walk.changedOf(this.#plain, this.#present);
    for (const known of changed) {
      this.#files.push({ path: known.path, kind: known.mode === LINK_MODE ? 'link' : 'file', known });
    }
  }

  findings(): FolderFindings {
    const { entries } = this.#walk;
    const isGone = ({ order, skipped }: IndexEntry): boolean => !skipped && this.#there[order] === 0;
    const gone = this.#met === entries.size ? [] : [...entries.values()].filter(isGone);
    return {
      files: this.#files,
      gone: gone.map(({ path }) => path),
      repositories: this.#repositories,
      newRepositories: this.#newRepositories,
      ignored: this.#ignored,
      folders: this.#folders,
      others: this.#others,
    };
  }

  #meet({ order }: IndexEntry): void {
    if (this.#there[order] === 0) this.#met += 1;
    this.#there[order] = 1;
  }

  async close(): Promise<void> {
    await this.#rules?.close();
  }

  async #rest(): Promise<void> {
    const now = performance.now();
    if (now - this.#start > MOST_MS) throw new UnreadableFolder(`to look at its files took longer than ${MOST_MS} ms`);
    if (now - this.#slice < SLICE_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#slice = performance.now();
  }

  async #enter(folder: string): Promise<void> {
    const { settled, folders } = this.#walk;
    const here = folders.get(folder);
    const before = here && this.#readable(folder, () => this.#plain.stat(folder));
    const inside = settled.foldersIn(folder, before);
    if (here === undefined || inside === undefined) return this.#list(folder, here, before);
    this.#open.push(...inside);
    for (const known of here.values()) this.#meetFile(known, known.mode === LINK_MODE ? 'link' : 'file');
  }

  async #list(folder: string, here: Walk['entries'] | undefined, before: BigIntStats | undefined): Promise<void> {
    const listed = this.#readable(folder, () => this.#plain.list(folder));
    const inside: string[] = [];
    let [files, isSettled] = [0, true];
    for (const { name, kind } of listed ?? []) {
      if (this.#isGit(name)) continue;
      const spelled = (): string => this.#composed(folder === '' ? name : `${folder}/${name}`);
      const own = here?.get(name);
      const known = own ?? this.#knownOtherwise(spelled);
      const path = known?.path ?? spelled();
      if (own !== undefined && isSame(own, kind)) files += 1;
      else if (kind === 'folder' && known === undefined && this.#walk.folders.has(path)) inside.push(path);
      else isSettled = false;
      if (kind === 'folder') await this.#meetFolder(path, known);
      else if (kind === 'other') {
        if (known !== undefined) throw new UnreadableFolder(`${textOfPath(path)} is no file, link or folder any more`);
        this.#others.push(path);
      } else if (known === undefined) this.#asked.push({ path, kind });
      else this.#meetFile(known, kind);
    }
    if (isSettled && files === here?.size) this.#walk.settled.remember(folder, before, inside);
  }

  #meetFile(known: IndexEntry, kind: 'file' | 'link'): void {
    this.#meet(known);
    if (isSame(known, kind)) this.#present.push(known);
    else this.#files.push({ path: known.path, kind, known });
  }

  async #meetFolder(path: string, known: IndexEntry | undefined): Promise<void> {
    if (known?.mode === REPOSITORY_MODE) {
      this.#meet(known);
      const head = await this.#headOf(path);
      if (head !== undefined && head !== known.object) this.#repositories.set(path, head);
    } else if (this.#walk.folders.has(path)) this.#open.push(path);
    else this.#asked.push({ path, kind: 'folder' });
  }

  /** Which of the new paths count. */
  async #decide(): Promise<void> {
    const asked = this.#asked;
    this.#asked = [];
    if (asked.length === 0) return;
    this.#rules ??= await this.#walk.rules(this.#plain);
    const rules = await this.#rules.ask(asked.map(({ path, kind }) => ({ path, isFolder: kind === 'folder' })));
    for (const [index, { path, kind }] of asked.entries()) {
      const by = rules[index];
      if (by !== undefined) this.#ignored.push({ path, kind, by });
      else if (kind !== 'folder') this.#files.push({ path, kind, known: undefined });
      else {
        const head = await this.#headOf(path);
        if (head !== undefined) {
          this.#repositories.set(path, head);
          this.#newRepositories.push(path);
        } else {
          this.#folders.push(path);
          this.#open.push(path);
        }
      }
      await this.#rest();
    }
  }

  async #headOf(path: string): Promise<string | undefined> {
    const { folder } = this.#walk;
    const head = await readNestedHead(folder, join(folder, textOfPath(path)));
    if (head?.type === 'unreadable') {
      if (this.#walk.anyRepository) return '';
      throw new UnreadableFolder(`the repository in ${textOfPath(path)} cannot be read: ${head.reason}`);
    }
    return head?.commit;
  }

  /** By another spelling, where the file system or git takes it for the same. */
  #knownOtherwise(inside: () => string): IndexEntry | undefined {
    const { entries, settings } = this.#walk;
    if (!settings.precompose && this.#folded === undefined) return undefined;
    const path = inside();
    const known = entries.get(path);
    if (known !== undefined || this.#folded === undefined) return known;
    const other = this.#folded.get(fold(path));
    // The file system finds it by the name that the commit has.
    return other !== undefined && this.#plain.stat(other.path) !== undefined ? other : undefined;
  }

  #composed(path: string): string {
    return this.#walk.settings.precompose ? Buffer.from(textOfPath(path).normalize('NFC')).toString('latin1') : path;
  }

  #isGit(name: string): boolean {
    return name === '.git' || (this.#walk.settings.ignoreCase && fold(name) === '.git');
  }

  #readable<T>(path: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asUnreadable(path, error);
    }
  }
}

/** A repository never counts as the same: its commit may differ. */
function isSame({ mode }: IndexEntry, kind: PlainEntry['kind']): boolean {
  if (mode === REPOSITORY_MODE) return false;
  return kind === (mode === LINK_MODE ? 'link' : 'file');
}

function foldAll(entries: Iterable<IndexEntry>): ReadonlyMap<string, IndexEntry> {
  return new Map([...entries].map((entry) => [fold(entry.path), entry]));
}

/** As git does: letters of ASCII only. */
function fold(path: string): string {
  return path.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

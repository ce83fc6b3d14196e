/** Bytes that grow in place. */
export class Content {
  private room = Buffer.alloc(0);
  length = 0;

  get bytes(): Buffer {
    return this.room.subarray(0, this.length);
  }

  apply(change: Change): void {
    if ('length' in change) {
      this.grow(change.length);
      if (change.length < this.length) this.room.fill(0, change.length, this.length);
      this.length = change.length;
      return;
    }
    const end = change.at + change.bytes.length;
    this.grow(end);
    change.bytes.copy(this.room, change.at);
    this.length = Math.max(this.length, end);
  }

  private grow(length: number): void {
    if (length <= this.room.length) return;
    const larger = Buffer.alloc(Math.max(length, this.room.length * 2, 256));
    this.room.copy(larger);
    this.room = larger;
  }
}

/** A file, a folder or a link of the recorded disk. */
export interface Inode {
  readonly kind: 'file' | 'folder' | 'link';
  mode: number;
  /** Of a link. */
  readonly target: string;
  /** Of a folder, as programs see it. */
  readonly entries: Map<string, Inode>;
  /** Of a file, as programs see it. */
  readonly content: Content;
  /** Of a file, on the disk. */
  readonly synced: Content;
  /** What was written since it was last synced. */
  pending: Change[];
  /** How many of these are on their way, and there with the next flush of anything (`sync_file_range`). */
  written: number;
}

/** Bytes at a place, or a new length. */
export type Change = { readonly at: number; readonly bytes: Buffer } | { readonly length: number };

/** A change of names, whole or not at all. */
export interface NameChange {
  /** A name gets an inode, or loses the one that it had. */
  readonly changes: readonly { readonly folder: Inode; readonly name: string; readonly inode: Inode | undefined }[];
  isSynced: boolean;
}

/** What a disk knows, and what it has. Times, owners and modes are not lost: nothing of squad depends on them. */
export class Disk {
  readonly root = this.make('folder', 0o755);
  /** Names of the beginning, in each folder. */
  private readonly first = new Map<Inode, ReadonlyMap<string, Inode>>();
  readonly names: NameChange[] = [];
  /** So many changes of names are on a disk whose journal keeps their order: every flush of a file writes the journal. */
  journaled = 0;
  private readonly flushing = new Set<Inode>();

  make(kind: Inode['kind'], mode: number, target = ''): Inode {
    const content = { content: new Content(), synced: new Content(), pending: [], written: 0 };
    return { kind, mode, target, entries: new Map(), ...content };
  }

  /** What is there now is on the disk. */
  begin(): void {
    const open = [this.root];
    for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
      this.first.set(folder, new Map(folder.entries));
      for (const inode of folder.entries.values()) {
        if (inode.kind === 'folder') open.push(inode);
        settle(inode, inode.pending.length);
      }
    }
    this.names.length = 0;
  }

  rename(changes: NameChange['changes']): void {
    for (const { folder, name, inode } of changes) {
      if (inode === undefined) folder.entries.delete(name);
      else folder.entries.set(name, inode);
    }
    this.names.push({ changes, isSynced: false });
  }

  change(inode: Inode, change: Change): void {
    inode.content.apply(change);
    inode.pending.push(change);
  }

  /** `fsync`: of a file its content, of a folder its names. On a disk with a journal, also all names of before. */
  sync(inode: Inode, isDataOnly: boolean): void {
    for (const other of this.flushing) settle(other, other.written);
    this.flushing.clear();
    if (inode.kind === 'file') settle(inode, inode.pending.length);
    else for (const change of this.names) change.isSynced ||= change.changes.some(({ folder }) => folder === inode);
    if (!isDataOnly) this.journaled = this.names.length;
  }

  /** `sync_file_range`: written, and on the disk with the next flush. */
  writeOut(inode: Inode): void {
    inode.written = inode.pending.length;
    this.flushing.add(inode);
  }

  syncAll(): void {
    const open = [this.root];
    for (let inode = open.pop(); inode !== undefined; inode = open.pop()) {
      if (inode.kind === 'folder') open.push(...inode.entries.values());
      else settle(inode, inode.pending.length);
    }
    for (const change of this.names) change.isSynced = true;
    this.journaled = this.names.length;
  }

  /** The names on the disk: those that were synced, and of the others the first `journaled`. */
  namesAfter(journaled: number): ReadonlyMap<Inode, ReadonlyMap<string, Inode>> {
    const folders = new Map([...this.first].map(([folder, names]) => [folder, new Map(names)]));
    for (const [index, { changes, isSynced }] of this.names.entries()) {
      if (!isSynced && index >= journaled) continue;
      for (const { folder, name, inode } of changes) {
        const names = folders.get(folder) ?? new Map<string, Inode>();
        folders.set(folder, names);
        if (inode === undefined) names.delete(name);
        else names.set(name, inode);
      }
    }
    return folders;
  }
}

function settle(inode: Inode, count: number): void {
  for (const change of inode.pending.splice(0, count)) inode.synced.apply(change);
  inode.written = Math.max(0, inode.written - count);
}

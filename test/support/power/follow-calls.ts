import { dirname, resolve } from 'node:path';
import type { Disk, Inode } from './disk.ts';
import { CALLS } from './call-table.ts';
import { bytesOf, numberOf, pathOf, textOf, type SystemCall } from './system-calls.ts';

/** An open file, as all descriptors of it share it. */
interface OpenFile {
  readonly inode: Inode | undefined;
  readonly path: string;
  at: number;
  readonly appends: boolean;
}

type Table = Map<number, OpenFile>;

/** Makes on a disk what system calls made. `root`: the folder that the disk is. */
export class Follower {
  private readonly tables = new Map<number, Table>();
  private readonly disk: Disk;
  private readonly root: string;
  /** Where the first program works. */
  private readonly start: string;
  /** Syncs that count; the others are as if they had never been called. */
  private readonly counts: (path: string) => boolean;

  constructor(disk: Disk, root: string, start: string, counts: (path: string) => boolean = () => true) {
    this.disk = disk;
    this.root = root;
    this.start = start;
    this.counts = counts;
  }

  follow(call: SystemCall): void {
    CALLS[call.name]?.call(this, call);
  }

  /** Where each thread works. */
  private readonly places = new Map<number, { path: string }>();

  enter({ thread }: SystemCall, path: string): void {
    this.placeOf(thread).path = path;
  }

  private placeOf(thread: number): { path: string } {
    const place = this.places.get(thread) ?? { path: this.start };
    this.places.set(thread, place);
    return place;
  }

  private tableOf(thread: number): Table {
    const table = this.tables.get(thread) ?? new Map<number, OpenFile>();
    this.tables.set(thread, table);
    return table;
  }

  /** Numbers are used again for pipes and the like, so that the path says which file it is. */
  fileAt({ thread }: SystemCall, argument: string): OpenFile {
    const known = this.tableOf(thread).get(numberOf(argument));
    const path = pathOf(argument) ?? '';
    if (known !== undefined && argument.endsWith('(deleted)') && known.path === path) return known;
    const inode = this.find(path);
    if (known !== undefined && inode === known.inode) return known;
    return { inode, path, at: inode?.content.length ?? 0, appends: true };
  }

  /** Absolute, and without a link of /proc to an open file. */
  path(call: SystemCall, folder: string | undefined, argument: string): string {
    const text = textOf(argument);
    const own = /^\/proc\/(?:self|(\d+))\/fd\/(\d+)(\/.*)?$/.exec(text);
    if (own !== null) {
      const file = this.tableOf(own[1] === undefined ? call.thread : Number(own[1])).get(Number(own[2]));
      return `${file?.path ?? '/proc/none'}${own[3] ?? ''}`;
    }
    return resolve((folder === undefined ? undefined : pathOf(folder)) ?? this.placeOf(call.thread).path, text);
  }

  find(path: string, depth = 0): Inode | undefined {
    if (path !== this.root && !path.startsWith(`${this.root}/`)) return undefined;
    let inode: Inode | undefined = this.disk.root;
    let at = this.root;
    for (const name of path.slice(this.root.length + 1).split('/')) {
      if (name === '') continue;
      if (inode?.kind === 'link' && depth < 8) inode = this.find(resolve(dirname(at), inode.target), depth + 1);
      inode = inode?.entries.get(name);
      at = `${at}/${name}`;
    }
    return inode;
  }

  /** The folder of a name, or undefined outside of the disk. */
  place(path: string): { folder: Inode; name: string } | undefined {
    const folder = this.find(dirname(path));
    const real = folder?.kind === 'link' ? this.find(resolve(dirname(dirname(path)), folder.target)) : folder;
    return real === undefined ? undefined : { folder: real, name: path.slice(path.lastIndexOf('/') + 1) };
  }

  open(call: SystemCall, flags: string, mode: string | undefined): void {
    const path = call.opened ?? '';
    let inode = this.find(path);
    if (inode === undefined && flags.includes('O_CREAT')) {
      const place = this.place(path);
      inode = place === undefined ? undefined : this.disk.make('file', Number.parseInt(mode ?? '644', 8) & ~0o022);
      if (place !== undefined) this.disk.rename([{ ...place, inode }]);
    } else if (inode !== undefined && flags.includes('O_TRUNC') && inode.content.length > 0) {
      this.disk.change(inode, { length: 0 });
    }
    const file = { inode, path, at: 0, appends: flags.includes('O_APPEND') };
    this.tableOf(call.thread).set(call.result, file);
  }

  write(call: SystemCall, at: number | undefined): void {
    const file = this.fileAt(call, call.args[0] ?? '');
    if (file.inode === undefined || call.result === 0) return;
    const bytes = bytesOf(call.args[1] ?? '').subarray(0, call.result);
    this.put(file, bytes, at);
  }

  put(file: OpenFile, bytes: Buffer, at: number | undefined): void {
    if (file.inode?.kind !== 'file') return;
    const from = at ?? (file.appends ? file.inode.content.length : file.at);
    this.disk.change(file.inode, { at: from, bytes });
    if (at === undefined) file.at = from + bytes.length;
  }

  copy(call: SystemCall, from: string, to: string): void {
    const [source, target] = [this.fileAt(call, from), this.fileAt(call, to)];
    if (source.inode === undefined || target.inode === undefined) {
      if (target.inode !== undefined) throw new Error(`a copy from outside: ${source.path} to ${target.path}`);
      return;
    }
    // Whole files are copied, from their beginning.
    const at = target.at;
    this.put(target, Buffer.from(source.inode.content.bytes.subarray(at, at + call.result)), undefined);
  }

  sync(call: SystemCall, isDataOnly: boolean): void {
    const { inode, path } = this.fileAt(call, call.args[0] ?? '');
    if (inode !== undefined && this.counts(path)) this.disk.sync(inode, isDataOnly);
  }

  writeOut(call: SystemCall): void {
    const { inode, path } = this.fileAt(call, call.args[0] ?? '');
    if (inode !== undefined && this.counts(path)) this.disk.writeOut(inode);
  }

  syncAll(): void {
    if (this.counts(this.root)) this.disk.syncAll();
  }

  move(from: string, to: string): void {
    const [source, target] = [this.place(from), this.place(to)];
    const inode = source?.folder.entries.get(source.name);
    if (source === undefined || target === undefined || inode === undefined) {
      if (target !== undefined) throw new Error(`a name from outside: ${from} to ${to}`);
      return;
    }
    if (target.folder.entries.get(target.name) === inode) return;
    this.disk.rename([
      { ...source, inode: undefined },
      { ...target, inode },
    ]);
  }

  link(from: string, to: string): void {
    const [inode, place] = [this.find(from), this.place(to)];
    if (place === undefined) return;
    if (inode === undefined) throw new Error(`a link from outside: ${from} to ${to}`);
    this.disk.rename([{ ...place, inode }]);
  }

  name(path: string, inode: () => Inode | undefined): void {
    const place = this.place(path);
    if (place !== undefined) this.disk.rename([{ ...place, inode: inode() }]);
  }

  folder(path: string, mode: string): void {
    this.name(path, () => this.disk.make('folder', Number.parseInt(mode, 8) & ~0o022));
  }

  symbolic(target: string, path: string): void {
    this.name(path, () => this.disk.make('link', 0o777, target));
  }

  resize(inode: Inode | undefined, length: number): void {
    if (inode?.kind === 'file' && inode.content.length !== length) this.disk.change(inode, { length });
  }

  mode(inode: Inode | undefined, mode: string): void {
    if (inode !== undefined) inode.mode = Number.parseInt(mode, 8);
  }

  duplicate(call: SystemCall): void {
    const table = this.tableOf(call.thread);
    const file = table.get(numberOf(call.args[0] ?? ''));
    if (file === undefined) table.delete(call.result);
    else table.set(call.result, file);
  }

  begin(call: SystemCall): void {
    const [table, place] = [this.tableOf(call.thread), this.placeOf(call.thread)];
    const isThread = call.args.some((argument) => argument.includes('CLONE_FILES'));
    this.tables.set(call.result, isThread ? table : new Map(table));
    this.places.set(call.result, isThread ? place : { ...place });
  }

  seek(call: SystemCall): void {
    const file = this.tableOf(call.thread).get(numberOf(call.args[0] ?? ''));
    if (file !== undefined) file.at = call.result;
  }

  lengthen(call: SystemCall): void {
    const [descriptor = '', mode = '', from = '', bytes = ''] = call.args;
    const { inode } = this.fileAt(call, descriptor);
    const length = Number(from) + Number(bytes);
    if (mode === '0' && inode !== undefined && inode.content.length < length) this.resize(inode, length);
  }
}

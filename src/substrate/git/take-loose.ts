import { createHash, randomUUID } from 'node:crypto';
import { closeSync, fstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import { orNothing } from '../system/files/odd-entry.ts';
import { openPlainFolder, type PlainFolder } from '../system/files/plain-folder.ts';
import type { GitContext, RunRepository } from './git-context.ts';

/** A turn rarely leaves as many. */
const MOST_OBJECTS = 500;
const MOST_BYTES = 16 * 1024 * 1024;
/** As packs name them. */
const KINDS = { commit: 1, tree: 2, blob: 3 } as const;

type Kind = keyof typeof KINDS;
/** `kind`: of a link of another object, which says so. */
type Link = readonly [id: string, kind: Kind];

interface LooseObject {
  readonly kind: Kind;
  readonly content: Buffer;
}

/**
 * Brings commits that lie as single files in a folder's own store into the run's repository, with all that they need. git names each by
 * its content and looks for all that it links to. false: something is in doubt, which `git fetch` decides with nine processes.
 */
export async function takeLoose(
  context: GitContext,
  { run, call, directory, talk }: RunRepository,
  { task, borrowed, ids }: { task: string; borrowed: readonly string[]; ids: readonly string[] },
): Promise<boolean> {
  // From the engine's own folder on, so that no part of the way is a link.
  const own = openPlainFolder(join(context.runsDirectory, run));
  const found = orNothing(() => collect(own, `${task}/.git/objects`, ids));
  if (found === undefined) return false;
  const pack = join(context.temporary, `loose-${randomUUID()}.pack`);
  try {
    writeFileSync(pack, packOf([...found.values()], ids[0]?.length === 64 ? 'sha256' : 'sha1'), { mode: 0o600 });
    const cage = { writable: [directory, context.temporary], readable: borrowed };
    const args = ['unpack-objects', '-q', '--strict'];
    if ((await context.git.run(args, { ...call, input: pack, cage })).code !== 0) return false;
  } finally {
    rmSync(pack, { force: true });
  }
  // A file may have another content than its name says.
  for (const id of ids) if ((await talk.commit(id)) === undefined) return false;
  return true;
}

/** Leaves out the objects that are not in the store: git refuses one with a link to nothing. Throws for a file that may not be read. */
function collect(own: PlainFolder, store: string, ids: readonly string[]): ReadonlyMap<string, LooseObject> {
  const found = new Map<string, LooseObject>();
  const open: Link[] = [];
  for (const id of ids) open.push([id, 'commit']);
  let left = MOST_BYTES;
  for (let link = open.pop(); link !== undefined; link = open.pop()) {
    const [id, kind] = link;
    if (found.has(id)) continue;
    const content = contentOf(own.open(`${store}/${id.slice(0, 2)}/${id.slice(2)}`), kind, left);
    if (content === undefined) continue;
    left -= content.length;
    found.set(id, { kind, content });
    if (found.size > MOST_OBJECTS) throw new Error('too many objects');
    if (kind !== 'blob')
      open.push(...(kind === 'commit' ? linksOfCommit(content) : linksOfTree(content, id.length / 2)));
  }
  return found;
}

/** Closes the file. undefined: there is none. */
function contentOf(file: number | undefined, kind: Kind, most: number): Buffer | undefined {
  if (file === undefined) return undefined;
  try {
    if (fstatSync(file).size > most) throw new Error('too large');
    const object = inflateSync(readFileSync(file), { maxOutputLength: most });
    const end = object.indexOf(0);
    const content = object.subarray(end + 1);
    if (object.toString('latin1', 0, end) !== `${kind} ${content.length}`) throw new Error('another object');
    return content;
  } finally {
    closeSync(file);
  }
}

function linksOfCommit(content: Buffer): readonly Link[] {
  const [header = ''] = content.toString('latin1').split('\n\n', 1);
  const links: Link[] = [];
  for (const [, name, id = ''] of header.matchAll(/^(tree|parent) ([0-9a-f]+)$/gm))
    links.push([id, name === 'tree' ? 'tree' : 'commit']);
  return links;
}

const FOLDER = '40000';
const REPOSITORY = '160000';

function linksOfTree(content: Buffer, idLength: number): readonly Link[] {
  const links: Link[] = [];
  for (let at = 0; at < content.length;) {
    const mode = content.toString('latin1', at, content.indexOf(' ', at));
    const name = content.indexOf(0, at) + 1;
    if (name === 0) throw new Error('no tree');
    at = name + idLength;
    if (mode !== REPOSITORY) links.push([content.toString('hex', name, at), mode === FOLDER ? 'tree' : 'blob']);
  }
  return links;
}

/** See git's `gitformat-pack(5)`. */
function packOf(objects: readonly LooseObject[], hash: 'sha1' | 'sha256'): Buffer {
  const start = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  start.writeUInt32BE(objects.length, 8);
  const parts: Uint8Array[] = [start];
  for (const { kind, content } of objects) {
    // Four bits of the size beside the kind, then seven in each further byte.
    const head = [(KINDS[kind] << 4) | (content.length & 15)];
    for (let rest = content.length >>> 4; rest > 0; rest >>>= 7) {
      head[head.length - 1] = (head.at(-1) ?? 0) | 0x80;
      head.push(rest & 0x7f);
    }
    parts.push(Buffer.from(head), deflateSync(content, { level: 1 }));
  }
  const body = Buffer.concat(parts);
  return Buffer.concat([body, createHash(hash).update(body).digest()]);
}

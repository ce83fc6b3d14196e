import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { orNothing } from '../system/files/odd-entry.ts';
import { readConfinedStart } from '../system/files/open-confined.ts';
import { isCommitId } from './git-call.ts';
import { isFolder } from './git-directory.ts';

export type HeadAnswer =
  | { readonly type: 'head'; readonly commit: string }
  | { readonly type: 'unreadable'; readonly reason: string };

const MOST_HEAD = 4096;

/**
 * The commit that HEAD of a git directory names. Reads plain files of a bounded length; an agent may have made them. `shared`: the
 * git directory that has the branches.
 */
export async function readHead(directory: string, shared = directory): Promise<HeadAnswer> {
  if (!(await isFolder(directory))) return unreadable('its .git is not a folder');
  const head = await readConfinedStart(directory, 'HEAD', MOST_HEAD);
  const text = head?.cut === false ? head.text.trimEnd() : '';
  if (isCommitId(text)) return { type: 'head', commit: text };
  const ref = /^ref: (refs\/[^\0\n]+)$/.exec(text)?.[1];
  if (ref === undefined || ref.split('/').includes('..')) return unreadable('its .git/HEAD names no commit');
  // Not in the list of all refs, which ends somewhere.
  const commit = (await readId(shared, ref)) ?? (await readPacked(shared)).refs.get(ref);
  return commit === undefined ? unreadable('its .git/HEAD names a branch without a commit') : { type: 'head', commit };
}

export interface FoundRefs {
  readonly refs: ReadonlyMap<string, string>;
  /** There are more than squad reads. */
  readonly cut: boolean;
}

/** The refs of a git directory, by name, up to bounds. Links, pipes and the like are left out. */
export async function readRefs(directory: string): Promise<FoundRefs> {
  const packed = await readPacked(directory);
  const refs = new Map(packed.refs);
  const loose = await listFiles(directory, 'refs');
  for (const name of loose.found) {
    const id = await readId(directory, name);
    if (id !== undefined) refs.set(name, id);
  }
  return { refs, cut: packed.cut || loose.cut };
}

/** The id in a small file of a git directory. */
export async function readId(directory: string, name: string): Promise<string | undefined> {
  const text = (await readConfinedStart(directory, name, MOST_HEAD))?.text.trimEnd() ?? '';
  return isCommitId(text) ? text : undefined;
}

const MOST_PACKED = 16 * 1024 * 1024;

async function readPacked(directory: string): Promise<FoundRefs> {
  const packed = await readConfinedStart(directory, 'packed-refs', MOST_PACKED);
  const refs = new Map<string, string>();
  for (const line of packed?.text.split('\n') ?? []) {
    const [id = '', name] = line.split(' ');
    if (name !== undefined && isCommitId(id)) refs.set(name, id);
  }
  return { refs, cut: packed?.cut === true };
}

const MOST_FILES = 1000;

/** The files below a folder of a git directory, up to a bound. */
export async function listFiles(
  root: string,
  start: string,
): Promise<{ readonly found: readonly string[]; readonly cut: boolean }> {
  const found: string[] = [];
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const entries = orNothing(() => readdirSync(join(root, folder), { withFileTypes: true })) ?? [];
    for (const entry of entries) {
      if (found.length + open.length >= MOST_FILES) return { found, cut: true };
      if (entry.isDirectory()) open.push(`${folder}/${entry.name}`);
      else if (entry.isFile()) found.push(`${folder}/${entry.name}`);
    }
  }
  return { found, cut: false };
}

function unreadable(reason: string): HeadAnswer {
  return { type: 'unreadable', reason };
}

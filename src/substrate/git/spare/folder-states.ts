import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync, type BigIntStats } from 'node:fs';
import { z } from 'zod';
import { parseJson } from '../../../text/json.ts';
import { orNothing } from '../../system/files/odd-entry.ts';
import { lookIn } from '../../system/files/plain-folder.ts';
import type { IndexFile } from '../index-file.ts';
import { REPOSITORY_MODE } from '../raw-diff.ts';

/**
 * By path, what the system says of the folders of an index. While it is the same for one, no entry came or went there, and neither mode,
 * owner nor attributes changed: each of that sets a time that no program can choose.
 */
export type FolderStates = ReadonlyMap<string, string>;

/** The system's clock for files ticks at least so often: what changes within one tick has equal times. */
export const TICK_NS = 20_000_000n;

/** undefined: one of them is missing. `since`: leaves out those that changed less than a tick before it. */
export function readStates(root: string, file: IndexFile, since?: bigint): FolderStates | undefined {
  const states = new Map<string, string>();
  for (const path of foldersIn(file)) {
    const found = lookIn(root, path);
    if (found?.isDirectory() !== true) return undefined;
    if (since === undefined || found.ctimeNs + TICK_NS < since) states.set(path, stateOf(found));
  }
  return states;
}

/** Those that are there: a sparse checkout leaves out files, and folders that hold no other ones. */
function foldersIn({ entries, folders }: IndexFile): Iterable<string> {
  const repositories = [...entries.values()].filter(({ mode, skipped }) => mode === REPOSITORY_MODE && !skipped);
  const all = [...folders.keys(), ...repositories.map(({ path }) => path)];
  const there = new Set(['']);
  for (const { path, skipped } of entries.values()) {
    for (let end = skipped ? 0 : path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (there.has(path.slice(0, end))) break;
      there.add(path.slice(0, end));
    }
  }
  return there.size === folders.size ? all : all.filter((path) => there.has(path) || entries.has(path));
}

export function stateOf({ dev, ino, mode, uid, ctimeNs }: BigIntStats): string {
  return [dev, ino, mode, uid, ctimeNs].join(' ');
}

export function digestOf(states: FolderStates): string {
  const hash = createHash('sha256');
  for (const [path, state] of states) hash.update(`${path}\0${state}\n`);
  return hash.digest('hex');
}

export function noteStates(path: string, states: FolderStates): void {
  writeFileSync(path, JSON.stringify(Object.fromEntries(states)), { mode: 0o600 });
}

/** Empty: nothing was noted that can be read. */
export function notedStates(path: string): FolderStates {
  const text = orNothing(() => readFileSync(path, 'utf8')) ?? '';
  return new Map(Object.entries(z.record(z.string(), z.string()).safeParse(parseJson(text)).data ?? {}));
}

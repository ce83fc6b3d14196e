import { mkdirSync, readdirSync } from 'node:fs';
import { folded, isNameOf } from '../../../model/setup-step.ts';
import { lookIn, pathIn } from '../../system/files/plain-folder.ts';
import { orNothing } from '../../system/files/odd-entry.ts';
import { createGit, requireCommitId, splitEntries, type Git, type GitCall, type GitPorts } from '../git-call.ts';
import { anyPlace, callOn, type GitContext } from '../git-context.ts';
import type { NamedFiles } from '../../ports/made.ts';

/** Everything in a folder that these paths name, whatever it is, with one character for each byte. Follows no link. */
export function madeIn(root: string, paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const parts = Buffer.from(path).toString('latin1').split('/');
    for (const one of expand(root, '', parts)) found.add(one);
  }
  const all = [...found].toSorted();
  return all.filter((path) => !all.some((other) => path.startsWith(`${other}/`)));
}

function expand(root: string, above: string, [part = '', ...rest]: readonly string[]): readonly string[] {
  const names = part.includes('*')
    ? (orNothing(() => readdirSync(pathIn(root, above), { encoding: 'latin1' })) ?? []).filter((name) =>
        name.toLowerCase() === '.git' ? false : isNameOf(part, name),
      )
    : [part];
  return names.flatMap((name) => {
    const path = above === '' ? name : `${above}/${name}`;
    const found = lookIn(root, path);
    if (found === undefined) return [];
    if (rest.length === 0) return [path];
    return found.isDirectory() ? expand(root, path, rest) : [];
  });
}

/** Whether all folders above a path are there, and are folders of this one. */
export function isPlaceIn(root: string, path: string): boolean {
  const parts = path.split('/').slice(0, -1);
  return parts.every((_, index) => lookIn(root, parts.slice(0, index + 1).join('/'))?.isDirectory() === true);
}

/** Makes the folders above a path below an own folder. */
export function makeAbove(root: string, path: string): void {
  const above = path.split('/').slice(0, -1).join('/');
  mkdirSync(pathIn(root, above), { recursive: true, mode: 0o700 });
}

export async function namedAt(context: GitContext, commit: string, names: Names): Promise<NamedFiles> {
  return namedIn(context.git, (await anyPlace(context)).call, commit, names);
}

interface Names {
  readonly when: readonly string[];
  readonly reuse: readonly string[];
}

/** Before a run exists. */
export async function namedInRepository(
  ports: GitPorts,
  commonDirectory: string,
  commit: string,
  names: Names,
): Promise<NamedFiles> {
  return namedIn(createGit(ports), callOn(commonDirectory), commit, names);
}

/** The files of a commit on which something depends, and one that is tracked where a command makes something. */
async function namedIn(
  git: Pick<Git, 'text'>,
  call: GitCall,
  commit: string,
  { when, reuse }: Names,
): Promise<NamedFiles> {
  const levels = new Map<string, Promise<readonly Entry[]>>();
  const list: List = (folder) => {
    const known = levels.get(folder);
    if (known !== undefined) return known;
    const asked = git
      .text(['ls-tree', '-z', `${requireCommitId(commit)}:${folder}`], call)
      .then((text) => splitEntries(text).map(entryOf));
    levels.set(folder, asked);
    return asked;
  };
  const files = (await Promise.all(when.map(async (path) => find(list, path, isNameOf)))).flat();
  const isFolded = (part: string, name: string): boolean => isNameOf(folded(part), folded(name));
  const tracked = (await Promise.all(reuse.map(async (path) => find(list, path, isFolded)))).flat()[0];
  const trees = (await list('')).map(({ name, id }) => `${name} ${id}`);
  return { when: files.map(({ path, id }) => [path, id]), tracked: tracked?.path, all: trees.join('\n') };
}

interface Entry {
  readonly name: string;
  readonly id: string;
}

const FOLDER_MODE = '040000 ';

type List = (folder: string) => Promise<readonly Entry[]>;

function entryOf(line: string): Entry {
  const [facts = '', name = ''] = line.split('\t');
  const [mode = '', , id = ''] = facts.split(' ');
  return { name, id: `${mode} ${id}` };
}

async function find(
  list: List,
  path: string,
  isName: (part: string, name: string) => boolean,
): Promise<readonly { readonly path: string; readonly id: string }[]> {
  let found: readonly { readonly path: string; readonly id: string }[] = [{ path: '', id: '' }];
  for (const part of path.split('/')) {
    const folders = found.filter(({ path: above, id }) => above === '' || id.startsWith(FOLDER_MODE));
    const next = folders.map(async (above) =>
      (await list(above.path))
        .filter(({ name }) => isName(part, name))
        .map(({ name, id }) => ({ path: above.path === '' ? name : `${above.path}/${name}`, id })),
    );
    found = (await Promise.all(next)).flat();
  }
  return found;
}

/** The kind of a path of a commit, before a run exists. undefined: it is not there, or is a repository of its own. */
export async function kindAt(
  ports: GitPorts,
  commonDirectory: string,
  commit: string,
  path: string,
): Promise<'tree' | 'blob' | undefined> {
  const args = ['cat-file', '-t', `${requireCommitId(commit)}:${path}`];
  const { code, stdout } = await createGit(ports).run(args, callOn(commonDirectory));
  const kind = code === 0 ? stdout.trim() : '';
  return kind === 'tree' || kind === 'blob' ? kind : undefined;
}

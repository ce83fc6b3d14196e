import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { IncludePattern } from '../../text/include-pattern.ts';
import { reachesInto } from '../../text/include-pattern.ts';
import { createGit, gitFailed, OUTPUT_CAP, splitEntries, type Git, type GitPorts } from './git-call.ts';
import { callOn } from './git-context.ts';
import { makeBare } from './run-repository.ts';

/** So many paths of ignored folders are looked at. */
const MOST_LOOKED_AT = 20_000;
const AT_ONCE = 500;

interface FoundCopy {
  readonly path: string;
  readonly pattern: IncludePattern;
}

/** How a path that is named, and is no ignored file, stands in the checkout. `odd`: it is neither file, link nor folder. */
type Standing = 'tracked' | 'not-ignored' | 'odd' | 'absent';

export interface CopiesFound {
  readonly files: readonly FoundCopy[];
  /** A folder that holds more than squad looks at; undefined: none. */
  readonly tooMuch: string | undefined;
  /** The paths that are named and are no ignored files. */
  readonly others: readonly { readonly pattern: IncludePattern; readonly standing: Standing }[];
}

interface Checkout {
  readonly git: Git;
  readonly root: string;
  /** A folder of squad's own, in which git matches the patterns. */
  readonly scratch: string;
}

/** The ignored files of a checkout that patterns of a list name, as git reads the list. Changes nothing there. */
export async function findCopies(
  ports: GitPorts,
  root: string,
  patterns: readonly IncludePattern[],
  scratch: string,
): Promise<CopiesFound> {
  const checkout = { git: createGit(ports), root, scratch };
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
  const listed = await list(checkout, args);
  if (listed === undefined) return { files: [], tooMuch: '', others: [] };
  const matching = await openMatcher(checkout, patterns);
  const folders = listed.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1));
  const candidates = listed.filter((path) => !path.endsWith('/'));
  const matched = new Set((await matching(folders, true)).keys());
  for (const folder of folders) {
    if (!matched.has(folder) && !patterns.some((one) => reachesInto(one, folder))) continue;
    const inside = await filesIn(root, folder);
    if (inside === undefined) return { files: [], tooMuch: folder, others: [] };
    candidates.push(...inside);
  }
  const found = await matching(candidates, false);
  // A tracked file in an ignored folder is not ignored.
  const ignored = new Set(await ignoredOf(checkout, [...found.keys()]));
  const files = [...found].flatMap(([path, pattern]) => (ignored.has(path) ? [{ path, pattern }] : []));
  const covered = new Set(files.map(({ pattern }) => pattern));
  const others = await othersOf(
    checkout,
    patterns.filter((one) => one.names !== undefined && !covered.has(one)),
  );
  return { files: files.toSorted((one, other) => (one.path < other.path ? -1 : 1)), tooMuch: undefined, others };
}

/** undefined: there are more than squad reads. */
async function list({ git, root }: Checkout, args: readonly string[], input?: string) {
  const answer = await git.run(args, { cwd: root, ...(input === undefined ? {} : { input }) });
  // `check-ignore` exits with 1 if it names no path.
  if (answer.code !== 0 && !(answer.code === 1 && args[0] === 'check-ignore')) throw gitFailed(args, answer);
  return answer.stdout.length >= OUTPUT_CAP ? undefined : splitEntries(answer.stdout);
}

/** All files below an ignored folder, links too. undefined: it has too many. */
async function filesIn(root: string, folder: string): Promise<string[] | undefined> {
  const [files, open] = [[] as string[], [folder]];
  let looked = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    // Gone meanwhile, or not to be read: nothing of it is named.
    const entries = await readdir(join(root, at), { withFileTypes: true }).catch(() => []);
    looked += entries.length;
    if (looked > MOST_LOOKED_AT) return undefined;
    for (const entry of entries) {
      const path = `${at}/${entry.name}`;
      if (entry.isDirectory()) open.push(path);
      else files.push(path);
    }
  }
  return files;
}

type Matcher = (paths: readonly string[], areFolders: boolean) => Promise<ReadonlyMap<string, IncludePattern>>;

/** git itself reads the patterns, as the `.gitignore` of an empty folder with a git directory of squad's own. */
async function openMatcher({ git, scratch }: Checkout, patterns: readonly IncludePattern[]): Promise<Matcher> {
  const [stage, directory] = [join(scratch, 'stage'), join(scratch, 'match.git')];
  mkdirSync(stage, { recursive: true, mode: 0o700 });
  makeBare(directory, '[core]\n\tbare = false\n', [], join(scratch, 'none'));
  writeFileSync(join(stage, '.gitignore'), patterns.map(({ text }) => `${text}\n`).join(''));
  const options = ['-c', 'core.excludesFile=/dev/null'];
  const args = [...options, 'check-ignore', '--no-index', '--stdin', '-z', '--verbose', '--non-matching'];
  return async (all, areFolders) => {
    const found = new Map<string, IncludePattern>();
    for (let from = 0; from < all.length; from += AT_ONCE)
      await match(all.slice(from, from + AT_ONCE), areFolders, found);
    return found;
  };

  async function match(paths: readonly string[], areFolders: boolean, found: Map<string, IncludePattern>) {
    for (const path of paths) mkdirSync(join(stage, areFolders ? path : dirname(path)), { recursive: true });
    const input = join(scratch, 'paths');
    writeFileSync(input, paths.map((path) => `./${path}\0`).join(''));
    const answer = await git.run(args, { ...callOn(directory), cwd: stage, workTree: stage, input });
    if (answer.code !== 0 && answer.code !== 1) throw gitFailed(args, answer);
    const fields = answer.stdout.split('\0');
    for (const [index, path] of paths.entries()) {
      const [source, line, rule = ''] = fields.slice(index * 4);
      const pattern = source === '.gitignore' ? patterns[Number(line) - 1] : undefined;
      if (pattern !== undefined && !rule.startsWith('!')) found.set(path, pattern);
    }
  }
}

async function ignoredOf(checkout: Checkout, paths: readonly string[]): Promise<readonly string[]> {
  const input = join(checkout.scratch, 'asked');
  const ignored: string[] = [];
  for (let from = 0; from < paths.length; from += AT_ONCE) {
    writeFileSync(
      input,
      paths
        .slice(from, from + AT_ONCE)
        .map((path) => `./${path}\0`)
        .join(''),
    );
    const said = (await list(checkout, ['check-ignore', '--stdin', '-z'], input)) ?? [];
    ignored.push(...said.map((path) => path.replace(/^\.\//, '')));
  }
  return ignored;
}

async function othersOf(checkout: Checkout, patterns: readonly IncludePattern[]): Promise<CopiesFound['others']> {
  const named = patterns.flatMap((pattern) => (pattern.names === undefined ? [] : [{ pattern, path: pattern.names }]));
  if (named.length === 0) return [];
  const paths = named.map(({ path }) => `:(top,literal)${path}`);
  const tracked = (await list(checkout, ['ls-files', '-z', '--', ...paths])) ?? [];
  return named.map(({ pattern, path }) => {
    if (tracked.some((one) => one === path || one.startsWith(`${path}/`))) return { pattern, standing: 'tracked' };
    const there = lstatSync(join(checkout.root, path), { throwIfNoEntry: false });
    if (there === undefined) return { pattern, standing: 'absent' };
    const isPlain = there.isFile() || there.isDirectory() || there.isSymbolicLink();
    return { pattern, standing: isPlain ? 'not-ignored' : 'odd' };
  });
}

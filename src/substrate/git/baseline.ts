import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readConfinedStart } from '../files/open-confined.ts';
import { defined } from '../../text/defined.ts';
import { isCommitId, type Git, splitEntries } from './git-call.ts';
import type { Baseline, BaselineAnswer, BaselineChange, Worktree } from '../ports/workspaces.ts';

/** Below the common directory. `grafts` and `alternates` run no program but change the history that the engine sees. */
const FILES = ['info/attributes', 'info/grafts', 'objects/info/alternates'];
const CONFIG_FILES = ['config', 'config.worktree'];

/**
 * Keys that cannot make git run a program or look elsewhere. Every other key counts as dangerous, unknown ones too. People may
 * fetch or set up a branch while agents work.
 */
const HARMLESS = [
  /^(?:advice|branch|color|column|fetch|pull|push|rebase|status|user)\./,
  /^remote\..*\.(?:url|pushurl|fetch|push|prune|prunetags|tagopt|gh-resolved)$/s,
  /^submodule\..*\.(?:url|active|branch)$/s,
  /^core\.(?:abbrev|autocrlf|bigfilethreshold|commentchar|compression|eol|filemode|ignorecase|logallrefupdates)$/,
  /^core\.(?:precomposeunicode|quotepath|repositoryformatversion|safecrlf|symlinks|whitespace)$/,
  /^diff\.(?:algorithm|colormoved|context|renames|renamelimit|mnemonicprefix|noprefix)$/,
  /^(?:init\.defaultbranch|log\.[a-z]+|merge\.(?:conflictstyle|ff|renamelimit|stat)|pack\.[a-z]+|gc\.(?!recentobjectshook$)[a-z]+)$/,
];

export async function takeBaseline(git: Git, commonDirectory: string): Promise<Baseline> {
  const bytes = await hashesOf(commonDirectory, CONFIG_FILES);
  const files = await readNow(git, commonDirectory, { files: {}, bytes: {} });
  return { files, bytes, remotes: await readRemotes(git, commonDirectory) };
}

/** `insteadOf` and the like are keys of other sections, which count as dangerous. */
const REMOTE_URL = /^remote\.(.*)\.(?:url|pushurl)$/s;

/** Compares the repository, and a worktree's own files, with the baseline. */
export async function checkBaseline(
  git: Git,
  commonDirectory: string,
  baseline: Baseline,
  worktree?: Worktree,
): Promise<BaselineAnswer> {
  const now = await readNow(git, commonDirectory, baseline);
  const shared = decideChanges(baseline.files, now);
  const own = worktree === undefined ? [] : await checkWorktree(worktree);
  const changes = [...shared, ...own];
  return changes.length === 0 ? { type: 'unchanged' } : { type: 'changed', changes };
}

/** People may add or change a remote while agents work, but the run must not push there. */
export async function checkRemote(
  git: Git,
  commonDirectory: string,
  baseline: Baseline,
  remote: string,
): Promise<BaselineAnswer> {
  if (baseline.remotes === undefined) return { type: 'unchanged' };
  const of = (remotes: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(remotes).filter(([key]) => REMOTE_URL.exec(key)?.[1] === remote));
  const changes = decideChanges(of(baseline.remotes), of(await readRemotes(git, commonDirectory)));
  return changes.length === 0 ? { type: 'unchanged' } : { type: 'changed', changes };
}

function decideChanges(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): readonly BaselineChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].toSorted();
  return names.flatMap((file): BaselineChange[] => {
    if (before[file] === now[file]) return [];
    if (before[file] === undefined) return [{ file, problem: 'added' }];
    return [{ file, problem: now[file] === undefined ? 'removed' : 'changed' }];
  });
}

/** From `git config --list -z`: each entry is a key, a line break and a value. */
export function decideDangerousKeys(listing: string): readonly string[] {
  return splitEntries(listing).filter(
    (entry) => !HARMLESS.some((pattern) => pattern.test(entry.split('\n', 1)[0] ?? '')),
  );
}

/** Changes by an agent in the worktree's git directory. Reads files only, because git must not use them unchecked. */
export async function checkWorktree(worktree: Worktree): Promise<readonly BaselineChange[]> {
  const { path, git } = worktree.workspace;
  const own = git.worktreeDirectory;
  const changes: BaselineChange[] = [];
  if (!(await isFolder(own))) return [{ file: own, problem: 'removed' }];
  if (!(await pointsTo(join(path, '.git'), own)))
    changes.push({ file: join(path, '.git'), problem: 'foreign-pointer' });
  const common = await readText(join(own, 'commondir'));
  if (common === undefined || (await realOf(resolve(own, common))) !== (await realOf(git.commonDirectory))) {
    changes.push({ file: join(own, 'commondir'), problem: 'changed' });
  }
  if ((await readText(join(own, 'gitdir'))) !== join(path, '.git')) {
    changes.push({ file: join(own, 'gitdir'), problem: 'changed' });
  }
  const config = await hashOf(join(own, 'config.worktree'));
  if (config !== worktree.configHash) {
    changes.push({ file: join(own, 'config.worktree'), problem: config === undefined ? 'removed' : 'changed' });
  }
  if ((await readHead(worktree)) === undefined) changes.push({ file: join(own, 'HEAD'), problem: 'symbolic-head' });
  return changes;
}

/** undefined: HEAD names no commit. An agent can make it symbolic, and commits would then move that branch. */
export async function readHead(worktree: Worktree): Promise<string | undefined> {
  const text = await readText(join(worktree.workspace.git.worktreeDirectory, 'HEAD'));
  return text !== undefined && isCommitId(text) ? text : undefined;
}

/** Hash of a file's bytes and its executable bit, or of a link's target; undefined: nothing is there. */
export async function hashOf(path: string): Promise<string | undefined> {
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink()) return hash(`link ${await readlink(path)}\n${(await readText(path)) ?? ''}`);
    if (!found.isFile()) return hash(`mode ${found.mode}`);
    return hash(Buffer.concat([Buffer.from(found.mode & 0o111 ? 'x' : '-'), await readFile(path)]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Hashes of hooks and files, and of the dangerous keys of config files, which are read only if the file's bytes changed. */
async function readNow(
  git: Git,
  commonDirectory: string,
  baseline: Pick<Baseline, 'files' | 'bytes'>,
): Promise<Record<string, string>> {
  const known: Record<string, string> = {};
  for (const [name, bytes] of Object.entries(await hashesOf(commonDirectory, CONFIG_FILES))) {
    const before = baseline.files[name];
    const same = bytes === baseline.bytes[name] && before !== undefined;
    known[name] = same ? before : await hashOfKeys(git, commonDirectory, name);
  }
  return { ...known, ...(await hashesOf(commonDirectory, [...FILES, ...(await hookNames(commonDirectory))])) };
}

/** By name, of the files that exist. */
async function hashesOf(folder: string, names: readonly string[]): Promise<Record<string, string>> {
  const hashes = await Promise.all(names.map(async (name) => [name, await hashOf(join(folder, name))] as const));
  return defined(Object.fromEntries(hashes)) as Record<string, string>;
}

async function hashOfKeys(git: Git, commonDirectory: string, name: string): Promise<string> {
  const listing = await listKeys(git, commonDirectory, name);
  // An unreadable file counts as a change until git can read it again.
  if (listing === undefined) return hash(`unreadable ${(await hashOf(join(commonDirectory, name))) ?? ''}`);
  return hash(decideDangerousKeys(listing).join('\0'));
}

/** As hashes, because a URL may contain a password. A key with several values has one hash for all, in order. */
async function readRemotes(git: Git, commonDirectory: string): Promise<Record<string, string>> {
  const values = new Map<string, string>();
  for (const name of CONFIG_FILES) {
    const listing = (await listKeys(git, commonDirectory, name)) ?? '';
    for (const entry of listing.split('\0')) {
      const key = entry.split('\n', 1)[0] ?? '';
      if (REMOTE_URL.test(key)) values.set(key, `${values.get(key) ?? ''}${entry}\0`);
    }
  }
  return Object.fromEntries([...values].map(([key, value]) => [key, hash(value)]));
}

/** undefined: there is no such file, or git cannot read it. */
async function listKeys(git: Git, commonDirectory: string, name: string): Promise<string | undefined> {
  // Without includes, because `include.path` itself counts as a dangerous key.
  const args = ['config', '--file', join(commonDirectory, name), '--no-includes', '--list', '-z'];
  const listing = await git.run(args, { cwd: commonDirectory, gitDirectory: commonDirectory });
  return listing.code === 0 ? listing.stdout : undefined;
}

async function hookNames(commonDirectory: string): Promise<string[]> {
  const names = await readdir(join(commonDirectory, 'hooks')).catch(() => []);
  return names.filter((name) => !name.endsWith('.sample')).map((name) => join('hooks', name));
}

/** The pointer may go through a link of squad, which claude's sandbox needs (docs/sandbox.md). */
async function pointsTo(pointer: string, directory: string): Promise<boolean> {
  try {
    if (!(await lstat(pointer)).isFile()) return false;
    const target = await readPointer(dirname(pointer));
    return target !== undefined && (await realpath(resolve(pointer, '..', target))) === (await realpath(directory));
  } catch {
    // The pointer is missing or leads nowhere.
    return false;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').then(
    (text) => text.replace(/\n$/, ''),
    () => undefined,
  );
}

async function realOf(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}

function hash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Longer than any path that the system accepts. */
const MOST_BYTES = 8192;

/** The target of a `.git` file in a folder that an agent can write to; undefined: it is no such file. */
export async function readPointer(folder: string): Promise<string | undefined> {
  const read = await readConfinedStart(folder, '.git', MOST_BYTES);
  return read?.cut === false ? /^gitdir: (.+)\n?$/.exec(read.text)?.[1] : undefined;
}

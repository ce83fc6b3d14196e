import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { failpoint } from '../system/failpoint.ts';
import { orNothing } from '../system/files/odd-entry.ts';
import { storesBehind } from '../system/files/object-stores.ts';
import { deleteFolder } from '../system/files/remove-tree.ts';
import { type GitAnswer, gitFailed, requireName } from './git-call.ts';
import { attemptRef, type GitContext, runBranch, type RunRepository, userCall } from './git-context.ts';
import { IGNORE_LEAVINGS } from './leavings.ts';
import { forgetSent, shareObjects } from './share-objects.ts';
import { parseSharingRule, sharedSetting } from './sharing-rule.ts';
import { conePatterns, isOwn } from '../../text/cone.ts';
import { type ConfigEntry, personalFile } from './user-configuration.ts';

/** More would hold up the start of a run. git itself packs at 6,700 loose objects. */
const MOST_FILES = 20_000;
/** A git of the user's may pack objects meanwhile. */
const TRIES = 2;

/** Built next to its place, so that it is complete or absent. */
export async function createRunRepository(context: GitContext, { directory, linked }: RunRepository): Promise<void> {
  const fresh = `${directory}.new`;
  await deleteFolder(fresh);
  const store = join(context.commonDirectory, 'objects');
  await deleteFolder(linked);
  await linkStore(store, linked);
  makeBare(fresh, '', [store], context.commonDirectory);
  await writeSettings(context, fresh);
  await rename(fresh, directory);
}

/** Copies the user's harmless settings, ignore rules and attributes into the run's repository. */
export async function writeSettings(context: GitContext, directory: string): Promise<void> {
  const { commonDirectory, environment } = context;
  const entries = await context.userConfiguration();
  const isSparse = context.sparse !== undefined || existsSync(join(directory, 'info/sparse-checkout'));
  const cone = isSparse ? await ownCone(context, directory) : undefined;
  await writeFile(join(directory, 'config'), harmlessSettings(cone === undefined ? entries : [...entries, ...SPARSE]));
  if (cone !== undefined) await writeFile(join(directory, 'info/sparse-checkout'), cone);
  for (const [name, key] of PERSONAL) {
    const personal = await readPersonal(personalFile(entries, environment, key));
    const own = await readPersonal(join(commonDirectory, 'info', name));
    const last = name === 'attributes' ? AS_STORED : IGNORE_LEAVINGS;
    await writeFile(join(directory, 'info', name), [personal, own, last].map(closeLine).join(''), 'latin1');
  }
}

/** As `git sparse-checkout` sets them. */
const SPARSE = ['core.sparsecheckout', 'core.sparsecheckoutcone'].map((key) => ({ key, value: 'true' }));

/** The patterns for `sparse`. A command that knows no settings, such as `squad clean`, leaves those that are there. */
async function ownCone({ sparse }: GitContext, directory: string): Promise<string | undefined> {
  if (sparse !== undefined) return conePatterns(sparse);
  const known = await readFile(join(directory, 'info/sparse-checkout'), 'utf8').catch(() => '');
  return isOwn(known) ? known : undefined;
}

/** Files of `info`, and the setting that names the user's own for all repositories. */
const PERSONAL = [
  ['exclude', 'excludesfile'],
  ['attributes', 'attributesfile'],
] as const;

/** The last word on conversions: files are in the tasks' folders as git stores them, and are stored as they are. */
const AS_STORED = '* -text -ident -working-tree-encoding\n';

/** A file that git cannot read counts for nothing there either. */
async function readPersonal(path: string | undefined): Promise<string> {
  const found = path === undefined ? undefined : await stat(path).catch(() => undefined);
  return path === undefined || found?.isFile() !== true ? '' : readFile(path, 'latin1').catch(() => '');
}

function closeLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/**
 * Gives the run's repository the run's refs in the user's, and no others: a fetch begins there, and git refuses it if one of them
 * names a commit that is gone.
 */
export async function copyRefs(context: GitContext, { run, directory }: RunRepository): Promise<void> {
  const refs = await listRefs(context, run, '%(objectname) %(refname)', runBranch(run));
  for (const folder of ['heads', 'squad']) await deleteFolder(join(directory, 'refs', folder));
  replaceRef(join(directory, 'packed-refs'), refs.map((line) => `${line}\n`).join(''));
}

/** git takes no file with this ending for a ref, also if the engine is killed here. */
function replaceRef(path: string, text: string): void {
  const fresh = `${path}.${randomUUID()}.lock`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(fresh, text);
  renameSync(fresh, path);
}

/** No branch of that name is ever made. */
export const BARE_HEAD = 'ref: refs/heads/none\n';
const COPIED = ['info/exclude', 'info/attributes', 'info/sparse-checkout', 'shallow'];

/**
 * A git directory without a checkout, by plain files. `stores`: the object stores that it borrows from. `like`: one that says
 * which files are ignored, what attributes they have, which are checked out, and where history ends.
 */
export function makeBare(directory: string, config: string, stores: readonly string[], like: string): void {
  for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    mkdirSync(join(directory, name), { recursive: true });
  }
  writeFileSync(join(directory, 'HEAD'), BARE_HEAD);
  writeFileSync(join(directory, 'config'), config);
  writeFileSync(join(directory, 'objects/info/alternates'), stores.map((store) => `${store}\n`).join(''));
  for (const name of COPIED) orNothing(() => copyFileSync(join(like, name), join(directory, name)));
}

/** Settings of the user that say how files are stored and named, and which submodules there are. None can name a program. */
const SETTINGS = [
  /^core\.(?:filemode|ignorecase|symlinks|precomposeunicode|protecthfs|protectntfs)$/,
  /^core\.(?:whitespace|quotepath|bigfilethreshold|sparsecheckout|sparsecheckoutcone)$/,
  /^(?:merge\.(?:conflictstyle|renames|renamelimit|directoryrenames)|diff\.(?:algorithm|renames|renamelimit)|lfs\.url)$/,
  /^(?:submodule\.[^]*\.(?:url|active|branch)|user\.(?:name|email))$/,
];

/** Set, so that those of the user do not count in their own commands there. */
const UNCONVERTED = [
  ['core.autocrlf', 'false'],
  ['core.safecrlf', 'false'],
] as const;

/** The text of a config file with these settings, as the user's git would use them. */
export function harmlessSettings(entries: readonly ConfigEntry[]): string {
  const values = new Map(entries.map(({ key, value }) => [key, value]));
  const kept = [...values].filter(([key]) => SETTINGS.some((pattern) => pattern.test(key)));
  const hash = values.get('extensions.objectformat');
  const format: [string, string][] =
    hash === undefined
      ? [['core.repositoryformatversion', '0']]
      : [
          ['core.repositoryformatversion', '1'],
          ['extensions.objectformat', hash],
        ];
  return [...format, ['gc.auto', '0'] as const, ...UNCONVERTED, ...kept]
    .map(([key, value]) => configLine(key, value))
    .join('');
}

function configLine(key: string, value: string): string {
  const [section, name] = [key.slice(0, key.indexOf('.')), key.slice(key.lastIndexOf('.') + 1)];
  const sub = key.slice(section.length + 1, -name.length - 1);
  const quoted = (text: string): string =>
    `"${text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"`;
  return `[${section}${sub === '' ? '' : ` ${quoted(sub)}`}]\n\t${name} = ${quoted(value)}\n`;
}

/** git over its own protocol, between two directories of this machine. Runs no hook, no maintenance and no helper of a remote. */
export function fetchArguments(from: string, ...what: readonly string[]): readonly string[] {
  const settings = ['protocol.version=2', 'protocol.file.allow=always', 'core.alternateRefsCommand=true'];
  const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--refmap='];
  const less = ['--no-recurse-submodules', '--no-auto-maintenance'];
  return [...settings.flatMap((item) => ['-c', item]), 'fetch', ...quiet, ...less, from, ...what];
}

/** Fetches take objects from directories of this machine only. */
export const LOCAL_ONLY = { GIT_ALLOW_PROTOCOL: 'file' };

/**
 * Moves a ref of the run in the user's repository, which gets the run's objects first; then the same ref in the run's. By
 * compare-and-swap if `before` is given.
 */
export async function publishRef(
  context: GitContext,
  repository: RunRepository,
  ref: string,
  commit: string,
  before?: string,
): Promise<GitAnswer> {
  for (let tries = 1; ; tries += 1) {
    await share(context, repository);
    failpoint('git.delivered');
    const moved = await context.talk.move(ref, commit, before);
    // Without it, which `copyRefs` may cause, a fetch only takes more than it needs.
    if (moved.code === 0) orNothing(() => replaceRef(join(repository.directory, ref), `${commit}\n`));
    if (moved.code === 0 || tries === 2) return moved;
    // A `git gc` between the two steps may have removed the commit.
    forgetSent(repository.sent);
  }
}

/** Gives the user's repository all objects of the run. */
export async function share(context: GitContext, { directory, sent }: RunRepository): Promise<void> {
  const rule = parseSharingRule(sharedSetting(await context.userConfiguration()));
  await shareObjects(join(directory, 'objects'), join(context.commonDirectory, 'objects'), sent, rule);
}

/** Protects a commit from `git gc` in the user's repository until the run's end, or until a ref of the run has it. */
export async function pin(context: GitContext, repository: RunRepository, commit: string): Promise<void> {
  const pinned = await publishRef(context, repository, pinRef(repository.run, commit), commit);
  if (pinned.code !== 0) throw gitFailed(['update-ref'], pinned);
  repository.pinned.add(commit);
}

export async function unpin(context: GitContext, repository: RunRepository, commit: string): Promise<void> {
  if (repository.pinned.delete(commit)) await dropRef(context, pinRef(repository.run, commit));
}

/** No attempt can have this name, because of the dot. */
function pinRef(run: string, commit: string): string {
  return attemptRef(run, `pin.${commit}`);
}

/** Whether a ref below `refs/squad/<run>` is a pin, and not the work of an attempt. */
export function isPin(ref: string): boolean {
  return /\/pin\.[0-9a-f]+$/.test(ref);
}

/** Whether a ref below `refs/squad/<run>` is squad's own note, a pin or the claim of the name, and not the work of an attempt. */
export function isBookkeeping(ref: string): boolean {
  return ref.slice(ref.lastIndexOf('/')).includes('.');
}

/** Deletes a ref of the run in the user's repository. */
export async function dropRef(context: GitContext, ref: string, before?: string): Promise<void> {
  const dropped = await context.talk.move(ref, null, before);
  if (dropped.code !== 0) throw gitFailed(['update-ref'], dropped);
}

/** The refs of a run in the user's repository; `more`: further ones. */
export async function listRefs(
  context: GitContext,
  run: string,
  format = '%(refname)',
  ...more: readonly string[]
): Promise<readonly string[]> {
  const args = ['for-each-ref', `--format=${format}`, `refs/squad/${requireName(run)}/`, ...more];
  const listed = await context.git.text(args, userCall(context));
  return listed.split('\n').filter((ref) => ref !== '');
}

/**
 * Makes an object store of hard links to the objects of another one, which does not move with it. It is complete or absent: there
 * is none on another disk, where the kernel forbids it, and of a store with very many files. false: there is none.
 */
export async function linkStore(from: string, to: string): Promise<boolean> {
  const fresh = `${to}.new`;
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      await deleteFolder(fresh);
      await linkObjects(from, fresh);
      const [, ...behind] = await storesBehind(from);
      await writeFile(join(fresh, 'info', 'alternates'), behind.map((store) => `${store}\n`).join(''));
      await rename(fresh, to);
      return true;
    } catch {
      // The store itself is as good, as long as it stays where it is.
    }
  }
  await deleteFolder(fresh);
  return false;
}

/** Packs last: what is packed meanwhile is found there. */
async function linkObjects(from: string, to: string): Promise<void> {
  const loose = (await readdir(from)).filter((name) => /^[0-9a-f]{2}$/.test(name));
  for (const name of ['', 'info', 'pack', ...loose]) await mkdir(join(to, name), { recursive: true, mode: 0o700 });
  let count = 0;
  for (const folder of [...loose, 'pack']) {
    const names = (await readdir(join(from, folder))).filter((name) => !/^tmp_|^\.|\.(?:lock|keep)$/.test(name));
    count += names.length;
    if (count > MOST_FILES) throw new Error('too many files');
    await Promise.all(names.map(async (name) => link(join(from, folder, name), join(to, folder, name))));
  }
}

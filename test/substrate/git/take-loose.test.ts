import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { TaskFolder } from '../../../src/substrate/ports/workspaces.ts';
import { createRepository, git } from '../../support/git.ts';
import { some, SPREAD, spread } from '../../support/lane.ts';
import { commitIn, fingerprint, openBench, removeFolders, type GitBench } from './bench.ts';

afterEach(removeFolders);

interface Site extends GitBench {
  readonly folder: TaskFolder;
  readonly objects: string;
  readonly work: string;
  /** One object of each kind that the work has made, and the tree and the file of its subfolder. */
  readonly ids: Readonly<Record<'commit' | 'tree' | 'blob' | 'subtree', string>>;
}

async function openSite(): Promise<Site> {
  const bench = await openBench({ 'a.txt': 'a\n', 'kept/same.txt': 'same\n' });
  await bench.workspaces.createRunBranch('run', bench.report.head);
  const folder = await bench.workspaces.addFolder({ run: 'run', task: 'task', commit: bench.report.head });
  const { path } = folder.workspace;
  const work = commitIn(folder, { 'b.txt': 'b\n', 'deep/er/c.txt': 'c\n' });
  const idOf = (name: string) => git(path, 'rev-parse', `${work}${name}`);
  const ids = { commit: work, tree: idOf('^{tree}'), blob: idOf(':b.txt'), subtree: idOf(':deep') };
  return { ...bench, folder, objects: join(path, '.git/objects'), work, ids };
}

function fileOf({ objects }: Site, id: string): string {
  return join(objects, id.slice(0, 2), id.slice(2));
}

function put(path: string, content: Uint8Array | string): void {
  rmSync(path, { force: true });
  writeFileSync(path, content);
}

type Spoil = (path: string, site: Site) => void;

/** An agent's object file: not what its name says. */
const LIES: readonly (readonly [string, Spoil])[] = [
  ['cut in its middle', (path) => put(path, readFileSync(path).subarray(0, -6))],
  [
    'with a flipped byte',
    (path) =>
      put(
        path,
        readFileSync(path).map((byte, at) => (at === 9 ? byte ^ 0x10 : byte)),
      ),
  ],
  [
    'of another content',
    (path) =>
      put(
        path,
        other(path, (content) => `${content}more\n`),
      ),
  ],
  ['with a wrong size', (path) => put(path, deflateSync(inflateSync(readFileSync(path)).subarray(0, -1)))],
  ['of another kind', (path) => put(path, deflateSync(Buffer.from('tree 0\0')))],
  ['that is no zlib', (path) => put(path, 'commit 3\0abc')],
  ['empty', (path) => put(path, '')],
  [
    'of 20 MB of zeros',
    (path) => put(path, deflateSync(Buffer.concat([Buffer.from('blob 20000000\0'), Buffer.alloc(20_000_000)]))),
  ],
  ['a pipe', (path) => (rmSync(path), execFileSync('mkfifo', [path]))],
  ['a folder', (path) => (rmSync(path), mkdirSync(path))],
  ['gone', (path) => rmSync(path)],
  ['a link to an endless file', (path) => (rmSync(path), symlinkSync('/dev/zero', path))],
];

function other(path: string, change: (content: string) => string): Buffer {
  const object = inflateSync(readFileSync(path)).toString('latin1');
  const end = object.indexOf('\0');
  const content = change(object.slice(end + 1));
  return deflateSync(Buffer.from(`${object.slice(0, object.indexOf(' '))} ${content.length}\0${content}`, 'latin1'));
}

const KINDS = ['commit', 'tree', 'blob', 'subtree'] as const;

describe('an object file of an agent that lies', () => {
  const cases = KINDS.flatMap((kind) => LIES.map(([name, spoil]) => [kind, name, spoil] as const));
  it.each(some(cases, 6, 12))('%s %s: never taken', { ...SPREAD, timeout: 120_000 }, async (kind, _, spoil) => {
    const site = await openSite();
    const before = fingerprint(site.repository);
    spoil(fileOf(site, site.ids[kind]), site);
    expect(await site.workspaces.rescue(site.folder, 'task-1')).toMatchObject({ type: 'unreadable' });
    expect(fingerprint(site.repository)).toEqual(before);
    expect(storesFaults(site)).toEqual([]);
    await site.workspaces.close();
  });

  it.each<[string, Spoil]>([
    ['its store behind a link', (_, { objects, root }) => behindLink(objects, join(root, 'elsewhere'))],
    ['one folder of it behind a link', (path, { root }) => behindLink(join(path, '..'), join(root, 'elsewhere'))],
  ])('of another repository, %s: nothing of it is read', { timeout: 60_000 }, async (_, spoil) => {
    const site = await openSite();
    const secret = createRepository(join(site.root, 'secret'), { 'secret.txt': 'secret\n' });
    const stolen = git(secret, 'rev-parse', 'HEAD');
    spoil(fileOf(site, site.work), site);
    for (const id of git(secret, 'rev-list', '--objects', 'HEAD').split('\n')) linkInto(site, secret, id.slice(0, 40));
    git(site.root, '-C', site.folder.workspace.path, 'update-ref', '--no-deref', 'HEAD', site.report.head);
    writeFileSync(join(site.folder.workspace.path, '.git/HEAD'), `${stolen}\n`);
    expect(await site.workspaces.rescue(site.folder, 'task-1')).toMatchObject({ type: 'unreadable' });
    await site.workspaces.close();
  });
});

function behindLink(path: string, elsewhere: string): void {
  renameSync(path, elsewhere);
  symlinkSync(elsewhere, path);
}

function linkInto(site: Site, from: string, id: string): void {
  const target = fileOf(site, id);
  mkdirSync(join(target, '..'), { recursive: true });
  linkSync(join(from, '.git/objects', id.slice(0, 2), id.slice(2)), target);
}

/** What `git fsck` finds in both stores that the engine writes. */
function storesFaults({ repository, stateDirectory }: Site): readonly string[] {
  const run = join(stateDirectory, 'work/run/.squad/run.git');
  return [repository, run].flatMap((place) => {
    try {
      execFileSync('git', ['-C', place, 'fsck', '--full', '--no-dangling'], { stdio: 'pipe' });
      return [];
    } catch (error) {
      return [String((error as { stderr?: Buffer }).stderr)];
    }
  });
}

describe('commits that lie as single files', () => {
  it('are taken as git would take them from a pack, whatever they hold', { ...SPREAD, timeout: 600_000 }, async () => {
    const name = fc.stringMatching(/^[a-zé ]{1,6}$/).filter((text) => text.trim() === text && text !== '');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    const files = fc.dictionary(path, fc.string({ unit: 'binary', maxLength: 3_000 }), { minKeys: 1, maxKeys: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(files, { minLength: 1, maxLength: 3 }), fc.boolean(), async (steps, isPacked) => {
        const { workspaces, folder, repository, report, ...site } = await openSite();
        const { path: place } = folder.workspace;
        for (const step of steps) commitAll(place, step);
        const head = git(place, 'rev-parse', 'HEAD');
        const wanted = git(place, 'log', '--format=%H %T', `${report.head}..${head}`);
        if (isPacked) git(place, 'repack', '-adq');
        const kept = await workspaces.rescue(folder, 'task-1');
        expect(kept).toMatchObject({ type: 'kept', head, clean: true });
        expect(git(repository, 'log', '--format=%H %T', `${report.head}..${head}`)).toBe(wanted);
        expect(storesFaults({ ...site, workspaces, folder, repository, report })).toEqual([]);
        await workspaces.close();
        removeFolders();
      }),
      { numRuns: spread(2, 200) },
    );
  });

  it('are left to `git fetch` when there are more than 500', { timeout: 60_000 }, async () => {
    const { workspaces, folder } = await openSite();
    const files = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`many/${n}.txt`, `${n}\n`]));
    const head = commitIn(folder, files);
    expect(await workspaces.rescue(folder, 'task-1')).toMatchObject({ type: 'kept', head });
    await workspaces.close();
  });
});

/** With a mode and a link, and names that collide left out. */
function commitAll(place: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    try {
      mkdirSync(join(place, name, '..'), { recursive: true });
      writeFileSync(join(place, name), text);
      chmodSync(join(place, name), text.length % 2 === 0 ? 0o755 : 0o644);
    } catch {
      // Another file has the name of this one's folder.
    }
  }
  symlinkSync('a.txt', join(mkdtempSync(join(place, 'link-')), 'link'));
  git(place, 'add', '-A');
  git(place, 'commit', '-q', '-m', `${Object.keys(files).length} files, ${readdirSync(place).length} entries`);
}

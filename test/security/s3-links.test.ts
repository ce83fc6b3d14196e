import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readNotes } from '../../src/runtimes/shared/repository-notes.ts';
import { openByPath, openByWalk, openConfined } from '../../src/substrate/system/files/open-confined.ts';
import { removeTree } from '../../src/substrate/system/files/remove-tree.ts';
import { decideEscapes } from '../../src/substrate/git/symbolic-links.ts';
import { openExchange, readRounds, removeRounds } from './exchange.ts';
import { keptIn, openBench, removeFolders } from '../substrate/git/bench.ts';
import { ALL } from '../support/lane.ts';

let room: string;
let root: string;
let outside: string;
beforeEach(() => {
  room = realpathSync(mkdtempSync(join(tmpdir(), 'squad-s3-')));
  root = join(room, 'tree');
  outside = join(room, 'outside');
  mkdirSync(join(root, 'folder'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.md'), 'SECRET');
  writeFileSync(join(root, 'folder', 'file.md'), 'inside');
});
afterEach(() => rmSync(room, { recursive: true, force: true }));

describe('S3: reading below a folder', () => {
  const ways = [
    ['openConfined', openConfined],
    ['openByWalk', openByWalk],
    ['openByPath', openByPath],
  ] as const;

  it.each(ways)('S3: %s reads files, and links that stay inside', async (_name, open) => {
    symlinkSync('folder/file.md', join(root, 'link.md'));
    symlinkSync(join(root, 'folder'), join(root, 'linked'));
    for (const path of ['folder/file.md', 'link.md', 'linked/file.md']) {
      expect(await readBy(open, path)).toBe('inside');
    }
  });

  it.each(ways)('S3: %s refuses whatever is not a regular file inside', async (_name, open) => {
    symlinkSync(join(outside, 'secret.md'), join(root, 'a.md'));
    symlinkSync('../outside/secret.md', join(root, 'b.md'));
    symlinkSync('../outside', join(root, 'c'));
    symlinkSync('b.md', join(root, 'd.md'));
    symlinkSync('/proc/self/environ', join(root, 'e.md'));
    symlinkSync(`/proc/${process.pid}/cwd`, join(root, 'f'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    for (const path of ['a.md', 'b.md', 'c/secret.md', 'd.md', 'e.md', 'f/package.json']) {
      expect(await open(root, path)).toEqual({ type: 'refused', why: 'is a link to a place outside the repository' });
    }
    expect(await open(root, 'folder')).toEqual({ type: 'refused', why: 'is a folder' });
    expect(await open(root, 'pipe')).toEqual({ type: 'refused', why: 'is not a regular file' });
    await expect(open(root, '../outside/secret.md')).rejects.toMatchObject({ code: 'bad-input' });
    await expect(open(root, 'folder/none.md')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(open(root, 'folder/file.md/x')).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it(
    'S3: a folder and a file that are exchanged for links while they are read let nothing from outside in',
    ALL,
    async () => {
      const exchange = await openExchange(root, outside);
      try {
        const seen = await readRounds(root, 1000);
        expect(seen.rounds).toBe(1000);
        expect(seen.outside).toBe(0);
        // The race was real: both sides of it were met.
        expect(seen.inside).toBeGreaterThan(10);
        expect(seen.refused).toBeGreaterThan(10);
      } finally {
        await exchange.close();
      }
    },
  );

  it('S3: the documents of a workspace are read no further than it', async () => {
    symlinkSync(join(outside, 'secret.md'), join(root, 'AGENTS.md'));
    writeFileSync(join(root, 'CLAUDE.md'), 'notes');
    expect(await readNotes(root)).toEqual([{ name: 'CLAUDE.md', text: 'notes' }]);
  });
});

describe('S3: deleting', () => {
  it('S3: takes links, closed folders, pipes and long chains away, and leaves what links lead to', ALL, async () => {
    symlinkSync(outside, join(root, 'folder', 'link'));
    symlinkSync(join(outside, 'secret.md'), join(root, 'file-link'));
    linkSync(join(outside, 'secret.md'), join(root, 'hard'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    mkdirSync(join(root, 'closed', 'inner'), { recursive: true });
    writeFileSync(join(root, 'closed', 'inner', 'x'), '');
    chmodSync(join(root, 'closed', 'inner'), 0o000);
    chmodSync(join(root, 'closed'), 0o500);
    makeChain(root, 600);
    const handles = readdirSync('/proc/self/fd').length;
    await removeTree(root);
    expect(existsSync(root)).toBe(false);
    expect(readFileSync(join(outside, 'secret.md'), 'utf8')).toBe('SECRET');
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(handles);
  });

  it('S3: takes the link itself where its root is one, and minds nothing that is not there', async () => {
    symlinkSync(outside, join(room, 'link'));
    await removeTree(join(room, 'link'));
    await removeTree(join(room, 'nothing'));
    await removeTree(join(room, 'nothing', 'below'));
    expect(readdirSync(room).toSorted()).toEqual(['outside', 'tree']);
    expect(existsSync(join(outside, 'secret.md'))).toBe(true);
  });

  it('S3: takes folders away that their owner may not even look into', () => {
    const own = mkdtempSync(join(tmpdir(), 'squad-s3-own-'));
    try {
      for (const folder of ['a', 'a/b']) mkdirSync(join(own, folder));
      writeFileSync(join(own, 'a', 'b', 'file'), '');
      const module = fileURLToPath(new URL('../../src/substrate/system/files/remove-tree.ts', import.meta.url));
      chmodSync(join(own, 'a', 'b'), 0o000);
      chmodSync(join(own, 'a'), 0o000);
      const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      if ('uid' in nobody) execFileSync('chown', ['-R', '65534:65534', own]);
      const code = `import(${JSON.stringify(module)}).then(({ removeTree }) => removeTree(${JSON.stringify(join(own, 'a'))}))`;
      const done = spawnSync(process.execPath, ['-e', code], { cwd: '/', ...nobody, encoding: 'utf8' });
      expect(done.stderr).toBe('');
      expect(readdirSync(own)).toEqual([]);
    } finally {
      rmSync(own, { recursive: true, force: true });
    }
  });

  it('S3: a folder that is exchanged for a link while it is deleted takes nothing outside with it', async () => {
    const seen = await removeRounds(room, 20);
    expect(seen.lost).toEqual([]);
    expect(seen.exchanged).toBeGreaterThan(0);
  });
});

describe('S3: links in commits', () => {
  it('S3: one that leaves the tree is not integrated, one that stays inside is', ALL, async () => {
    const bench = await openBench();
    const { workspaces, report } = bench;
    await workspaces.createRunBranch('r', report.head);
    const worktree = await workspaces.addFolder({ run: 'r', task: 'one', commit: report.head });
    symlinkSync('readme.md', join(worktree.workspace.path, 'inside'));
    const fine = await keptIn(workspaces, worktree, {});
    const order = { run: 'r', message: 'm' };
    expect(await workspaces.integrate({ ...order, commit: fine })).toMatchObject({ type: 'candidate' });
    symlinkSync('../../outside', join(worktree.workspace.path, 'link'));
    const commit = await keptIn(workspaces, worktree, {});
    const links = [{ path: 'link', target: '../../outside' }];
    expect(await workspaces.integrate({ ...order, commit })).toEqual({
      type: 'refused',
      reason: 'escaping-links',
      links,
    });
    await workspaces.close();
    removeFolders();
  });

  it.each([
    ['absolute', { a: '/etc' }],
    ['above', { 'x/a': '../../y' }],
    ['through another', { d: 'e/..', e: '.', 'x/a': '../e/../../y' }],
    ['into git', { a: '.git/hooks' }],
    ['into git, by another case', { a: '.GIT/hooks' }],
  ])('S3: a link that leaves the tree is found: %s', (_name, links) => {
    expect(decideEscapes(new Map(Object.entries(links)))).not.toEqual([]);
  });
});

async function readBy(open: typeof openConfined, path: string): Promise<string> {
  const opened = await open(root, path);
  if (opened.type === 'refused') throw new Error(opened.why);
  try {
    return await opened.file.readFile('utf8');
  } finally {
    await opened.file.close();
  }
}

/** Deeper than any path can say. */
function makeChain(folder: string, levels: number): void {
  const code = `for (let level = 0; level < ${levels}; level += 1) { fs.mkdirSync('deep-down'); process.chdir('deep-down'); }`;
  const made = spawnSync(process.execPath, ['-e', code], { cwd: folder, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
}

// @module-tag all
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { mergeIntoCheckout } from '../../../src/substrate/git/merge-checkout.ts';
import { takeIndexLock, writeJournal } from '../../../src/substrate/git/merge-journal.ts';
import type { MergeAnswer } from '../../../src/substrate/git/merge-order.ts';
import { ownOwner, type Owner } from '../../../src/substrate/system/process/owner.ts';
import { gitsAt } from '../../../src/substrate/git/git-locks.ts';
import { noteMover } from '../../../src/substrate/git/ref-moves.ts';
import { openRepository } from '../../../src/substrate/git/repository.ts';
import { requireWritable } from '../../../src/substrate/git/require-writable.ts';
import { createRepository, git } from '../../support/git.ts';
import { portsIn, refusalOf, removeFolders, temporaryFolder } from './bench.ts';

afterEach(removeFolders);

const LONG = 'a line of a long file\n'.repeat(500);
const BASE = { 'old.txt': 'old\n', 'changed.txt': 'before\n', thing: 'a file\n' };

/** As a merge of the branch `work` leaves it that was killed with its git while it wrote its files. */
async function killedMerge(owner: Owner = { ...ownOwner(), startTime: '1' }) {
  const root = temporaryFolder();
  const path = createRepository(join(root, 'repository'), BASE);
  git(path, 'switch', '-q', '-c', 'work');
  rmSync(join(path, 'old.txt'));
  rmSync(join(path, 'thing'));
  mkdirSync(join(path, 'thing'));
  for (const name of ['changed.txt', 'new.txt', 'whole.txt', 'thing/inside']) writeFileSync(join(path, name), LONG);
  git(path, 'add', '-A');
  git(path, 'commit', '-q', '-m', 'work');
  const commit = git(path, 'rev-parse', 'work');
  git(path, 'switch', '-q', 'main');
  const directory = join(path, '.git');
  await takeIndexLock(directory, owner);
  const ref = 'refs/heads/main';
  const ids = { from: git(path, 'rev-parse', 'main'), to: commit, commit };
  await writeJournal(directory, { version: 1, run: 'work', root: path, ref, ...ids, owner, locks: [] });
  writeFileSync(join(directory, 'squad-merge/index.lock'), 'DIRC');
  writeFileSync(join(directory, 'HEAD.lock'), '');
  writeFileSync(join(directory, `${ref}.lock`), `${commit}\n`);
  rmSync(join(path, 'old.txt'));
  rmSync(join(path, 'thing'));
  writeFileSync(join(path, 'whole.txt'), LONG);
  writeFileSync(join(path, 'changed.txt'), '');
  writeFileSync(join(path, 'new.txt'), LONG.slice(0, 4000));
  return { root, path, commit };
}

async function merge({ root, path, commit }: Awaited<ReturnType<typeof killedMerge>>): Promise<MergeAnswer> {
  const ports = portsIn(root);
  const { branch = '', ...checkout } = await openRepository(ports, path);
  return mergeIntoCheckout(ports, { ...checkout, branch }, { run: 'work', commit, message: 'Merge it' });
}

function left(path: string): string[] {
  const names = readdirSync(join(path, '.git'), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.lock$|^squad-m/.test(name));
}

describe('a merge that was killed with its git', () => {
  it('is finished by the next call, and leaves no lock', async () => {
    const killed = await killedMerge();
    const { path } = killed;
    writeFileSync(join(path, 'mine.txt'), 'mine\n');
    expect(await merge(killed)).toMatchObject({ type: 'merged', how: 'fast-forward' });
    expect([git(path, 'rev-parse', 'HEAD'), git(path, 'status', '--porcelain')]).toEqual([
      killed.commit,
      '?? mine.txt',
    ]);
    expect(left(path)).toEqual([]);
    expect(await merge(killed)).toEqual({ type: 'already' });
  });

  it('is finished although a git that is about to end is still at work there', async () => {
    const killed = await killedMerge();
    const line = 'git hash-object --stdin; true';
    const ending = spawn('sh', ['-c', line], { cwd: killed.path, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    const lock = join(killed.path, '.git/refs/heads/main.lock');
    await expect.poll(() => gitsAt(lock).length, { timeout: 30_000 }).toBeGreaterThan(0);
    setTimeout(() => ending.stdin.end(), 700);
    expect(await merge(killed)).toMatchObject({ type: 'merged' });
    expect(left(killed.path)).toEqual([]);
  });

  it.each([
    ['untracked', 'new.txt', `${LONG.slice(0, 4000)}mine`],
    ['untracked', 'new.txt', `${LONG}more`],
    ['untracked', 'thing', 'a beginning of nothing'],
    ['dirty', 'changed.txt', 'mine\n'],
    ['dirty', 'old.txt', 'mine\n'],
  ])('keeps what a person has: %s %s', async (type, name, text) => {
    const killed = await killedMerge();
    const file = join(killed.path, name);
    rmSync(file, { force: true, recursive: true });
    writeFileSync(file, text);
    expect(await merge(killed)).toEqual({ type: name === 'thing' ? 'dirty' : type, files: [name] });
    expect(readFileSync(file, 'utf8')).toBe(text);
    rmSync(file);
    expect(await merge(killed)).toMatchObject({ type: 'merged' });
    expect([git(killed.path, 'status', '--porcelain'), left(killed.path)]).toEqual(['', []]);
  });

  it('goes first: another commit is merged after it, or once nothing of it is left', async () => {
    const killed = await killedMerge();
    const { path } = killed;
    const other = { ...killed, commit: git(path, 'commit-tree', 'work^{tree}', '-p', 'work', '-m', 'other') };
    expect(await merge(other)).toEqual({ type: 'cut-short', run: 'work' });
    git(path, 'checkout', '-q', '--', '.');
    for (const name of ['new.txt', 'whole.txt']) rmSync(join(path, name));
    expect(await merge(other)).toMatchObject({ type: 'merged' });
    expect([git(path, 'status', '--porcelain'), left(path)]).toEqual(['', []]);
  });

  it('is left alone while it lives, and so is a lock of another git', async () => {
    const living = await killedMerge(ownOwner());
    expect(await refusalOf(merge(living))).toMatchObject({ code: 'workspace-busy' });
    const killed = await killedMerge();
    const { path } = killed;
    const lock = join(path, '.git/refs/heads/main.lock');
    writeFileSync(lock, 'of another git');
    expect(await refusalOf(merge(killed))).toMatchObject({
      code: 'git-locked',
      message: expect.stringContaining(lock),
    });
    expect(readFileSync(lock, 'utf8')).toBe('of another git');
    rmSync(lock);
    // A git that waits for its editor has the index.
    rmSync(join(path, '.git/index.lock'), { force: true });
    const env = { PATH: process.env['PATH'], HOME: path, GIT_EDITOR: 'sleep 60 #' };
    // Not as a child of this process, which are squad's own.
    const line = 'git commit -q --allow-empty -a -e -m x; true';
    const commit = spawn('sh', ['-c', line], { cwd: path, env, stdio: 'ignore', detached: true });
    await expect.poll(() => existsSync(join(path, '.git/index.lock'))).toBe(true);
    const refused = await refusalOf(merge(killed));
    expect(refused.message).toMatch(/and git \(PID [\d, ]+\) is at work there/);
    expect(existsSync(join(path, '.git/index.lock'))).toBe(true);
    process.kill(-(commit.pid ?? 0), 'SIGKILL');
  });
});

describe('locks of refs that a squad left which was killed with its git', () => {
  it.each(['before', 'while'])(
    'what is no folder in the place of the notes stops no squad: %s it moves refs',
    async (when) => {
      const { root, path } = await killedMerge();
      const { stateDirectory } = portsIn(root);
      const notes = join(stateDirectory, 'ref-moves');
      const note = () => noteMover({ commonDirectory: join(path, '.git'), stateDirectory });
      const harm = () => {
        rmSync(notes, { recursive: true, force: true });
        mkdirSync(stateDirectory, { recursive: true });
        writeFileSync(notes, '');
      };
      if (when === 'before') harm();
      const takeBack = await note();
      if (when === 'before') expect(lstatSync(notes).isDirectory()).toBe(true);
      else harm();
      takeBack();
      (await note())();
      expect(existsSync(notes)).toBe(false);
    },
  );

  it('go with the next command, and no others do', async () => {
    const { root, path } = await killedMerge();
    const place = { root: path, commonDirectory: join(path, '.git') };
    const { stateDirectory } = portsIn(root);
    const [own, other] = ['packed-refs.lock', 'refs/heads/other.lock'].map((name) => join(path, '.git', name));
    for (const lock of [own, other]) writeFileSync(lock!, '');
    const locked = { code: 'git-locked' };
    expect(await refusalOf(requireWritable(place, stateDirectory))).toMatchObject(locked);
    const takeBack = await noteMover({ ...place, stateDirectory });
    expect(await refusalOf(requireWritable(place, stateDirectory))).toMatchObject(locked);
    const notes = join(stateDirectory, 'ref-moves');
    const [note = ''] = readdirSync(notes, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'));
    takeBack();
    expect(existsSync(notes)).toBe(false);
    mkdirSync(join(notes, note, '..'), { recursive: true });
    writeFileSync(join(notes, note), JSON.stringify({ ...ownOwner(), startTime: '1' }));
    await requireWritable(place, stateDirectory);
    expect([own, other].map((lock) => existsSync(lock!))).toEqual([false, true]);
    expect(existsSync(notes)).toBe(false);
  });
});

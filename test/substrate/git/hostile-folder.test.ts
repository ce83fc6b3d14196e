// @module-tag all
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TaskFolder } from '../../../src/substrate/ports/workspaces.ts';
import { createRepository, git } from '../../support/git.ts';
import { some, SPREAD } from '../../support/lane.ts';
import { commitIn, fingerprint, findFaults, openBench, removeFolders, type GitBench } from './bench.ts';

afterEach(removeFolders);

/** Longer than any answer takes on a busy machine, shorter than git's own time limit. */
const BOUND_MS = 20_000;

interface Site extends GitBench {
  readonly folder: TaskFolder;
  readonly path: string;
  /** The git directory in the folder. */
  readonly own: string;
  /** What the agent committed last. */
  readonly work: string;
}

async function openSite(): Promise<Site> {
  const bench = await openBench({ 'a.txt': 'a\n' });
  await bench.workspaces.createRunBranch('run', bench.report.head);
  const folder = await bench.workspaces.addFolder({ run: 'run', task: 'task', commit: bench.report.head });
  const { path } = folder.workspace;
  return { ...bench, folder, path, own: join(path, '.git'), work: commitIn(folder, { 'b.txt': 'b\n' }) };
}

function replace(path: string, make: (path: string) => void): void {
  rmSync(path, { recursive: true, force: true });
  make(path);
}

const pipe = (path: string): void => void execFileSync('mkfifo', [path]);
const endless = (path: string): void => symlinkSync('/dev/zero', path);
const huge = (path: string): void => {
  writeFileSync(path, '');
  truncateSync(path, 2 ** 40);
};
const userGit = (site: Site): string => join(site.repository, '.git');

/** What an agent did to its folder while or before the engine looks. Each is an answer that names it. */
const SPOILS: readonly (readonly [string, (site: Site) => void])[] = [
  ['a pipe for its git directory', ({ own }) => replace(own, pipe)],
  ['an endless file for its git directory', ({ own }) => replace(own, endless)],
  ['the user’s git directory behind a link', (site) => replace(site.own, (path) => symlinkSync(userGit(site), path))],
  [
    'a file that points to the user’s git directory',
    (site) => replace(site.own, (path) => writeFileSync(path, `gitdir: ${userGit(site)}\n`)),
  ],
  ['a pipe for HEAD', ({ own }) => replace(join(own, 'HEAD'), pipe)],
  ['an endless HEAD', ({ own }) => replace(join(own, 'HEAD'), endless)],
  ['a HEAD of a terabyte', ({ own }) => replace(join(own, 'HEAD'), huge)],
  ['a HEAD that leads out of it', ({ own }) => writeFileSync(join(own, 'HEAD'), 'ref: refs/../../../etc/passwd\n')],
  ['a HEAD on a branch that is a pipe', ({ own }) => (onBranch(own), pipe(join(own, 'refs/heads/x')))],
  [
    'a HEAD on a branch that is a link',
    ({ own, repository }) => {
      onBranch(own);
      symlinkSync(join(repository, '.git/refs/heads/main'), join(own, 'refs/heads/x'));
    },
  ],
  ['a HEAD whose commit is nowhere', ({ own }) => writeFileSync(join(own, 'HEAD'), `${'1'.repeat(40)}\n`)],
  ['no objects', ({ own }) => rmSync(join(own, 'objects'), { recursive: true })],
  [
    'objects behind a link',
    ({ own, root }) => {
      renameSync(join(own, 'objects'), join(root, 'elsewhere'));
      symlinkSync(join(root, 'elsewhere'), join(own, 'objects'));
    },
  ],
  ['a pipe for its commit', ({ own, work }) => replace(objectOf(own, work), pipe)],
  ['an endless file for its commit', ({ own, work }) => replace(objectOf(own, work), endless)],
  ['a terabyte for its commit', ({ own, work }) => replace(objectOf(own, work), huge)],
  ['a pipe for a pack', ({ own }) => pipe(join(own, 'objects/pack/pack-1.idx'))],
  ['a pipe for its alternates', ({ own }) => replace(join(own, 'objects/info/alternates'), pipe)],
  [
    'alternates that lead to another repository',
    ({ own, root }) => {
      const secret = createRepository(join(root, 'secret'), { 'secret.txt': 'secret\n' });
      writeFileSync(join(own, 'objects/info/alternates'), `${join(secret, '.git/objects')}\n`);
      writeFileSync(join(own, 'HEAD'), `${git(secret, 'rev-parse', 'HEAD')}\n`);
    },
  ],
  [
    'alternates in a circle',
    ({ own }) => appendFileSync(join(own, 'objects/info/alternates'), `${join(own, 'objects')}\n`),
  ],
  [
    'its folder behind a link to the user’s checkout',
    ({ path, repository }) => replace(path, (at) => symlinkSync(repository, at)),
  ],
  ['its folder a file', ({ path }) => replace(path, (at) => writeFileSync(at, ''))],
];

function onBranch(own: string): void {
  writeFileSync(join(own, 'HEAD'), 'ref: refs/heads/x\n');
}

function objectOf(own: string, id: string): string {
  return join(own, 'objects', id.slice(0, 2), id.slice(2));
}

describe('a folder that its agent spoiled', () => {
  it.each(some(SPOILS, 0, 10))(
    '%s: named in time, and the user’s repository keeps every byte',
    { ...SPREAD, timeout: 90_000 },
    async (_, spoil) => {
      const site = await openSite();
      const { workspaces, folder, repository } = site;
      const before = fingerprint(repository);
      spoil(site);
      const begun = performance.now();
      await workspaces.addFolder({ run: 'run', task: 'task', commit: site.report.head }).catch(() => undefined);
      const answers = [
        await workspaces.snapshot(folder),
        await workspaces.rescue(folder, 'task-1'),
        await workspaces.moveFolder(folder, site.report.head, 'task-1'),
        await workspaces.removeFolder(folder, 'task-1'),
      ];
      expect(performance.now() - begun).toBeLessThan(BOUND_MS);
      expect(answers.slice(0, 3)).toMatchObject(['unreadable', 'unreadable', 'unreadable'].map((type) => ({ type })));
      expect(answers[3]).toMatchObject({ type: 'refused', reason: 'unreadable' });
      expect(fingerprint(repository)).toEqual(before);
      expect(findFaults(site)).toEqual([]);
      await workspaces.close();
    },
  );

  it.each<[string, (site: Site) => void]>([
    ['settings that git cannot read', ({ own }) => writeFileSync(join(own, 'config'), '[')],
    ['settings from a pipe', ({ own }) => replace(join(own, 'config'), pipe)],
    ['an index of its own making', ({ own }) => writeFileSync(join(own, 'index'), 'DIRC nonsense')],
    ['an index from a pipe', ({ own }) => replace(join(own, 'index'), pipe)],
    [
      'refs that replace its commit',
      ({ own, work, report }) => {
        mkdirSync(join(own, 'refs/replace'), { recursive: true });
        writeFileSync(join(own, 'refs/replace', work), `${report.head}\n`);
      },
    ],
    [
      'a hundred thousand refs',
      ({ own, work }) =>
        writeFileSync(
          join(own, 'packed-refs'),
          Array.from({ length: 100_000 }, (__, n) => `${work} refs/heads/many-${n}\n`).join(''),
        ),
    ],
    ['refs from a pipe', ({ own }) => pipe(join(own, 'refs/heads/pipe'))],
    ['a graph of its commits that lies', ({ own }) => writeFileSync(join(own, 'objects/info/commit-graph'), 'CGPH')],
    [
      'attributes with filters of its own',
      ({ path, own }) => {
        writeFileSync(join(own, 'info/attributes'), '* filter=evil merge=evil diff=evil\n');
        appendFileSync(join(own, 'config'), '[filter "evil"]\n\tclean = touch ../ran; cat\n\trequired = true\n');
        writeFileSync(join(path, '.gitattributes'), '* filter=evil\n');
      },
    ],
    ['a branch of its own', ({ path }) => git(path, 'checkout', '-q', '-b', 'mine')],
    ['packed objects and refs', ({ path }) => (git(path, 'checkout', '-q', '-b', 'mine'), git(path, 'gc', '-q'))],
  ])('%s: does not matter, and its work is kept', { timeout: 90_000 }, async (_, spoil) => {
    const site = await openSite();
    const { workspaces, folder, repository, work, root } = site;
    const before = fingerprint(repository);
    spoil(site);
    const begun = performance.now();
    const kept = await workspaces.rescue(folder, 'task-1');
    expect(performance.now() - begun).toBeLessThan(BOUND_MS);
    expect(kept).toMatchObject({ type: 'kept', head: work });
    expect(await workspaces.removeFolder(folder, 'task-1')).toMatchObject({ type: 'removed' });
    expect(git(repository, 'merge-base', work, 'refs/squad/run/task-1')).toBe(work);
    expect(readdirSync(root)).not.toContain('ran');
    expect(fingerprint(repository)).toEqual(before);
    expect(findFaults(site)).toEqual([]);
    await workspaces.close();
  });

  it.each<[string, (own: string) => void]>([
    ['settings and hooks', (own) => writeFileSync(join(own, 'config'), '[core]\n\tfsmonitor = touch ran\n')],
    ['a link for its settings', (own) => replace(join(own, 'config'), (path) => symlinkSync('/dev/zero', path))],
    ['a folder for its settings', (own) => replace(join(own, 'config'), (path) => mkdirSync(path))],
  ])('has the engine’s settings and no hook at its next turn, whatever it left: %s', async (_, spoil) => {
    const { workspaces, folder, own, path, work, report } = await openSite();
    spoil(own);
    mkdirSync(join(own, 'hooks'));
    writeFileSync(join(own, 'hooks/pre-commit'), '#!/bin/sh\ntouch ran\n', { mode: 0o755 });
    writeFileSync(join(own, 'commondir'), '/tmp\n');
    const again = await workspaces.addFolder({ run: 'run', task: 'task', commit: report.head });
    expect(again.workspace).toEqual(folder.workspace);
    expect(git(path, 'rev-parse', 'HEAD')).toBe(work);
    git(path, 'commit', '-q', '--allow-empty', '-m', 'more');
    expect(git(path, 'status', '--porcelain')).toBe('');
    expect(git(path, 'config', '--local', '--list')).not.toContain('fsmonitor');
    await workspaces.close();
  });

  it.each([
    ['its refs', 'refs'],
    ['its refs of remotes', 'refs/remotes'],
    ['its refs of squad', 'refs/remotes/squad'],
    ['the name of the run branch', 'refs/remotes/squad/run'],
  ])('links %s to the user’s refs: the run branch is shown in the folder alone', async (_, name) => {
    const site = await openSite();
    const theirs = join(userGit(site), 'refs');
    mkdirSync(join(site.own, name, '..'), { recursive: true });
    replace(join(site.own, name), (path) => symlinkSync(theirs, path));
    const before = fingerprint(userGit(site));
    await site.workspaces.addFolder({ run: 'run', task: 'task', commit: site.report.head });
    expect(fingerprint(userGit(site))).toEqual(before);
    expect(git(site.path, 'rev-parse', 'squad/run')).toBe(site.report.head);
  });

  it('is a link to a checkout whose git holds a lock: nothing of it is moved', async () => {
    const { workspaces, folder, repository, path, report } = await openSite();
    writeFileSync(join(repository, '.git/index.lock'), '');
    const before = fingerprint(repository);
    replace(path, (at) => symlinkSync(repository, at));
    await workspaces.addFolder({ run: 'run', task: 'task', commit: report.head });
    await expect(workspaces.standOn(folder, report.head, 'follows')).rejects.toThrow('is not a folder');
    expect(fingerprint(repository)).toEqual(before);
    await workspaces.close();
  });

  it(
    'is exchanged all the time while the engine looks: every answer is one of the two',
    { timeout: 120_000 },
    async () => {
      const site = await openSite();
      const { workspaces, folder, repository, own, root, work } = site;
      const before = fingerprint(repository);
      const [kept, bait] = [join(root, 'kept'), join(root, 'bait')];
      mkdirSync(bait);
      for (const name of ['HEAD', 'objects']) pipe(join(bait, name));
      // `mv` swaps by rename, as fast as it can, until the file is gone.
      const going = join(root, 'going');
      writeFileSync(going, '');
      const script = `while [ -e '${going}' ]; do mv '${own}' '${kept}'; mv '${bait}' '${own}'; mv '${own}' '${bait}'; mv '${kept}' '${own}'; done`;
      const { spawn } = await import('node:child_process');
      const swapping = spawn('/bin/sh', ['-c', script], { stdio: 'ignore' });
      try {
        for (let round = 0; round < 10; round += 1) {
          const answer = await workspaces.rescue(folder, 'task-1');
          expect(['kept', 'unreadable']).toContain(answer.type);
          if (answer.type === 'kept') expect(answer.head).toBe(work);
        }
      } finally {
        rmSync(going);
        await new Promise((resolve) => swapping.once('exit', resolve));
      }
      expect(readFileSync(join(own, 'HEAD'), 'utf8')).toBe(`${work}\n`);
      expect(await workspaces.rescue(folder, 'task-1')).toMatchObject({ type: 'kept', head: work });
      expect(fingerprint(repository)).toEqual(before);
      await workspaces.close();
    },
  );
});

// @module-tag all
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TaskFolder } from '../../../src/substrate/ports/workspaces.ts';
import { git } from '../../support/git.ts';
import { NIGHT, some, SPREAD, spread } from '../../support/lane.ts';
import { createRandom } from '../../support/random.ts';
import { commitIn, findFaults, fingerprint, openBench, removeFolders, type GitBench } from './bench.ts';

afterEach(removeFolders);

interface Site extends GitBench {
  readonly folder: TaskFolder;
  readonly path: string;
}

async function openSite(): Promise<Site> {
  const bench = await openBench({ 'a.txt': 'a\n' });
  await bench.workspaces.createRunBranch('run', bench.report.head);
  const folder = await bench.workspaces.addFolder({ run: 'run', task: 'a', commit: bench.report.head });
  return { ...bench, folder, path: folder.workspace.path };
}

const SIDE = 'refs/squad/run/a-side-at-';
const commit = ({ folder }: Site, name: string): string => commitIn(folder, { [`${name}.txt`]: `${name}\n` }, name);
const stash = ({ path }: Site, name: string): void => {
  writeFileSync(join(path, 'a.txt'), `${name}\n`);
  git(path, 'stash', 'push', '-q', '-m', name);
};
const away = ({ path }: Site): string => git(path, 'checkout', '-q', '--detach', 'HEAD~1');

/** What an agent leaves, and the kinds of what the run keeps besides HEAD. */
const WAYS: readonly (readonly [string, (site: Site) => void, readonly string[]])[] = [
  ['nothing', () => {}, []],
  ['commits at HEAD', (site) => [commit(site, 'one'), commit(site, 'two')], []],
  [
    'a branch',
    (site) => {
      git(site.path, 'switch', '-q', '-c', 'mine');
      commit(site, 'one');
      away(site);
    },
    ['branch mine'],
  ],
  [
    'branches, of which one has the other, in a file of packed refs',
    (site) => {
      for (const name of ['low', 'high']) {
        git(site.path, 'switch', '-q', '-c', name);
        commit(site, name);
      }
      git(site.path, 'checkout', '-q', '--detach', 'HEAD~2');
      git(site.path, 'pack-refs', '--all');
    },
    ['branch high'],
  ],
  ['two stashes', (site) => [stash(site, 'one'), stash(site, 'two')], ['stash refs/stash', 'stash logs/refs/stash']],
  [
    'a commit that a detached HEAD left',
    (site) => {
      commit(site, 'one');
      away(site);
    },
    ['log ORIG_HEAD', 'log logs/HEAD'],
  ],
  [
    'a commit that was reset away, and another one in its place',
    (site) => {
      commit(site, 'one');
      git(site.path, 'reset', '-q', '--hard', 'HEAD~1');
      commit(site, 'two');
    },
    ['log ORIG_HEAD'],
  ],
  [
    'a message that was corrected',
    (site) => {
      commit(site, 'one');
      git(site.path, 'commit', '-q', '--amend', '-m', 'better');
    },
    [],
  ],
  [
    'tags',
    (site) => {
      commit(site, 'one');
      git(site.path, 'tag', 'light');
      commit(site, 'two');
      git(site.path, 'tag', '-a', '-m', 'heavy', 'heavy');
      git(site.path, 'checkout', '-q', '--detach', 'HEAD~2');
      rmSync(join(site.path, '.git/logs'), { recursive: true });
    },
    ['tag heavy'],
  ],
  [
    'a worktree elsewhere',
    (site) => {
      const place = join(site.root, 'elsewhere');
      git(site.path, 'worktree', 'add', '-q', '--detach', place);
      writeFileSync(join(place, 'c.txt'), 'c\n');
      git(place, 'add', '-A');
      git(place, 'commit', '-q', '-m', 'there');
    },
    ['worktree worktrees/elsewhere/HEAD'],
  ],
  [
    'a history of its own',
    (site) => {
      git(site.path, 'switch', '-q', '--orphan', 'alone');
      commit(site, 'one');
      git(site.path, 'checkout', '-q', '--detach', site.report.head);
    },
    ['branch alone'],
  ],
  [
    'a log that names what is gone',
    (site) => {
      git(site.path, 'switch', '-q', '-c', 'mine');
      commit(site, 'one');
      away(site);
      const line = (id: string): string => `${id} ${id} x <x@x> 1 +0000\tx\n`;
      writeFileSync(join(site.path, '.git/logs/HEAD'), ['1', '2', '3'].map((id) => line(id.repeat(40))).join(''));
    },
    ['branch mine'],
  ],
];

describe('what HEAD of a clone does not have', () => {
  it.for(some(WAYS, 0, 4))('%s: stays at refs of the run when the folder goes', SPREAD, async ([, leave, wanted]) => {
    const site = await openSite();
    const { workspaces, repository, folder, path, report } = site;
    leave(site);
    const head = git(path, 'rev-parse', 'HEAD');
    const answer = await workspaces.keepCommits(folder, 'a-1');
    if (answer.type !== 'head') throw new Error(JSON.stringify(answer));
    expect(answer.commit).toBe(head);
    expect(answer.side.missed).toBeUndefined();
    const { kept } = answer.side;
    const names = kept.map(({ kind, name }) => `${kind} ${name}`);
    if (wanted.length === 2 && wanted[0]?.startsWith('log')) expect(wanted).toContain(names[0]);
    else expect(names).toEqual(wanted);
    // Once kept, the same again.
    expect(await workspaces.keepCommits(folder, 'a-1')).toEqual(answer);
    const removed = await workspaces.removeFolder(folder, 'a-1');
    expect(removed).toMatchObject({ type: 'removed', ...(kept.length === 0 ? {} : { side: { kept } }) });
    for (const one of kept) {
      expect(one.ref).toBe(`${SIDE}${one.commit.slice(0, 12)}`);
      expect(git(repository, 'rev-parse', one.ref)).toBe(one.commit);
    }
    if (head !== report.head) expect(git(repository, 'rev-parse', 'refs/squad/run/a-1')).toBe(head);
    expect(findFaults(site)).toEqual([]);
  });

  it('is kept before a folder is moved, reset, or stands on another commit', async () => {
    const site = await openSite();
    const { workspaces, repository, folder, path, report } = site;
    const next = git(repository, 'commit-tree', `${report.head}^{tree}`, '-p', report.head, '-m', 'next');
    const moves = [
      async () => workspaces.moveFolder(folder, next, 'a-1'),
      async () => workspaces.standOn(folder, next, 'follows'),
      async () => workspaces.resetFolder(folder, { commit: next, attempt: 'a-2', rescueAs: 'a-1-before' }),
    ];
    for (const [index, move] of moves.entries()) {
      stash(site, `stash-${index}`);
      const kept = git(path, 'rev-parse', 'refs/stash');
      await move();
      expect(git(repository, 'rev-parse', `${SIDE}${kept.slice(0, 12)}`)).toBe(kept);
    }
  });

  it('is found where HEAD itself cannot be read', async () => {
    const site = await openSite();
    git(site.path, 'switch', '-q', '-c', 'mine');
    commit(site, 'one');
    git(site.path, 'switch', '-q', '--orphan', 'empty');
    const answer = await site.workspaces.keepCommits(site.folder, 'a-1');
    expect(answer).toMatchObject({ type: 'unreadable', side: { kept: [{ kind: 'branch', name: 'mine' }] } });
  });

  it('is not there any more where the git directory is gone', async () => {
    const { workspaces, folder, path } = await openSite();
    rmSync(join(path, '.git'), { recursive: true });
    expect(await workspaces.keepCommits(folder, 'a-1')).toEqual({ type: 'gone' });
  });

  it('keeps the folder if its store must not be read', async () => {
    const site = await openSite();
    stash(site, 'one');
    writeFileSync(join(site.path, '.git/objects/info/alternates'), '/elsewhere\n');
    expect(await site.workspaces.removeFolder(site.folder, 'a-1')).toMatchObject({
      type: 'refused',
      reason: 'unreadable',
      detail: [expect.stringContaining('/elsewhere')],
    });
  });

  it.for([
    ['loose', 3000],
    ['packed', 300_000],
  ] as const)('of so many refs (%s) keeps some, and says so', { ...NIGHT, timeout: 120_000 }, async ([how, count]) => {
    const site = await openSite();
    const { path, workspaces, folder, repository, report } = site;
    const own = commit(site, 'own');
    const made = Array.from({ length: 30 }, (_, at) =>
      git(path, 'commit-tree', `${report.head}^{tree}`, '-p', report.head, '-m', String(at)),
    );
    const lines = Array.from({ length: count }, (_, at) => [made[at % 30] ?? '', `refs/heads/b${at}`] as const);
    if (how === 'packed') {
      writeFileSync(join(path, '.git/packed-refs'), lines.map(([id, name]) => `${id} ${name}\n`).join(''));
    } else {
      mkdirSync(join(path, '.git/refs/heads'), { recursive: true });
      for (const [id, name] of lines) writeFileSync(join(path, '.git', name), `${id}\n`);
    }
    const begun = performance.now();
    const answer = await workspaces.keepCommits(folder, 'a-1');
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(answer).toMatchObject({ type: 'head', commit: own });
    if (answer.type !== 'head') return;
    expect(answer.side.kept).toHaveLength(20);
    expect(answer.side.missed).toMatch(/^10 more commits/);
    if (how === 'loose') expect(answer.side.missed).toContain('beyond the first ones');
    expect(await workspaces.removeFolder(folder, 'a-1')).toMatchObject({ type: 'removed' });
    expect(git(repository, 'for-each-ref', '--format=%(refname)', `${SIDE}*`).split('\n')).toHaveLength(20);
  });
});

/** What an agent plants where squad reads names. None of it hides the commit at HEAD, costs time or leads elsewhere. */
const PLANTS: readonly (readonly [string, (own: string, site: Site) => void])[] = [
  ['a pipe for a log', (own) => execFileSync('mkfifo', [join(own, 'logs/pipe')])],
  ['an endless log', (own) => symlinkSync('/dev/zero', join(own, 'logs/zero'))],
  ['a log of a terabyte', (own) => truncateSync(join(own, 'logs/HEAD'), 2 ** 40)],
  ['a log of noise', (own) => writeFileSync(join(own, 'logs/HEAD'), randomBytes(100_000))],
  ['logs of ids that name nothing', (own) => writeFileSync(join(own, 'logs/HEAD'), logOf(3000))],
  ['the user’s logs', (own, { repository }) => replaceByLink(join(own, 'logs'), join(repository, '.git/logs'))],
  ['the user’s refs', (own, { repository }) => replaceByLink(join(own, 'refs'), join(repository, '.git/refs'))],
  ['an endless file of packed refs', (own) => symlinkSync('/dev/zero', join(own, 'packed-refs'))],
  [
    'names of refs that lead out',
    (own, { report }) => writeFileSync(join(own, 'packed-refs'), `${report.head} ../../x\n`),
  ],
  ['a circle of folders', (own) => symlinkSync('.', join(own, 'refs/heads/circle'))],
  ['worktrees elsewhere', (own, { repository }) => symlinkSync(repository, join(own, 'worktrees'))],
  ['the password file for a commit', (own) => symlinkSync('/etc/passwd', join(own, 'MERGE_HEAD'))],
  [
    'a stash that is a file',
    (own, { path }) => writeFileSync(join(own, 'refs/stash'), `${git(path, 'hash-object', '-w', 'a.txt')}\n`),
  ],
];

function logOf(count: number): string {
  const id = (at: number): string => createHash('sha1').update(String(at)).digest('hex');
  return Array.from({ length: count }, (_, at) => `${id(at)} ${id(at + 1)} x <x@x> 1 +0000\tx\n`).join('');
}

function replaceByLink(path: string, to: string): void {
  rmSync(path, { recursive: true, force: true });
  symlinkSync(to, path);
}

it.for(some(PLANTS, 0, 2))(
  'beside %s the commit at HEAD is kept in time',
  { ...SPREAD, timeout: 90_000 },
  async ([, plant]) => {
    const site = await openSite();
    const { workspaces, folder, path, repository } = site;
    const head = commit(site, 'own');
    const before = fingerprint(repository);
    plant(join(path, '.git'), site);
    const begun = performance.now();
    expect(await workspaces.keepCommits(folder, 'a-1')).toMatchObject({
      type: 'head',
      commit: head,
      side: { kept: [] },
    });
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(git(repository, 'rev-parse', 'refs/squad/run/a-1')).toBe(head);
    expect(await workspaces.removeFolder(folder, 'a-1')).toMatchObject({ type: 'removed' });
    expect(fingerprint(repository)).toEqual(before);
  },
);

it('files that are larger than squad stores cost no commit and no time', { timeout: 90_000 }, async () => {
  const site = await openSite();
  const { workspaces, folder, path } = site;
  const head = commit(site, 'own');
  for (const name of ['a.txt', 'own.txt', 'new.txt']) {
    writeFileSync(join(path, name), '');
    truncateSync(join(path, name), 20 * 1024 ** 3);
    const begun = performance.now();
    expect(await workspaces.keepCommits(folder, 'a-1')).toMatchObject({ type: 'head', commit: head });
    const reason = expect.stringContaining('more than 8 GiB') as string;
    expect(await workspaces.rescue(folder, 'a-1')).toMatchObject({ type: 'unreadable', reason });
    expect(performance.now() - begun).toBeLessThan(20_000);
    truncateSync(join(path, name), 0);
  }
});

/** One step of an agent that does not know where it wants to go. */
function wander(site: Site, random: () => number, step: number): void {
  const { path } = site;
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const branches = git(path, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n').filter(Boolean);
  const steps: (() => unknown)[] = [
    () => commit(site, `c${step}`),
    () => git(path, 'switch', '-q', '-c', `b${step}`),
    () => git(path, 'checkout', '-q', '--detach', pick(['HEAD', 'HEAD~1', site.report.head, ...branches])),
    () => stash(site, `s${step}`),
    () => git(path, 'reset', '-q', '--hard', pick(['HEAD~1', site.report.head])),
    () => git(path, 'commit', '-q', '--amend', '--allow-empty', '-m', `amended ${step}`),
    () => git(path, 'merge', '-q', '--no-edit', '-X', 'ours', pick(['HEAD', ...branches])),
    () => git(path, 'rebase', '-q', '-X', 'ours', pick(['HEAD', ...branches])),
    () => git(path, 'cherry-pick', pick(['HEAD', ...branches])),
    () => git(path, 'tag', `t${step}`),
    () => git(path, 'branch', '-f', pick(['x', 'y']), 'HEAD'),
    () => git(path, 'pack-refs', '--all'),
    () => git(path, 'gc', '-q'),
    () => git(path, 'stash', 'apply', '-q'),
  ];
  try {
    pick(steps)();
  } catch {
    // There is nothing to do it with, or a conflict, which stays.
  }
}

const SEEDS = Array.from({ length: spread(2, 60) }, (_, at) => at + 1);

it.for(SEEDS)(
  'no commit that a clone names is lost with it (seed %i)',
  { ...SPREAD, timeout: 60_000 },
  async (seed) => {
    const site = await openSite();
    const { path, repository, workspaces, folder } = site;
    const random = createRandom(seed);
    for (let step = 0; step < 14; step += 1) wander(site, random, step);
    const list = (where: string, ...what: string[]): string[] =>
      git(where, 'rev-list', '--no-commit-header', '--format=%H %T', ...what).split('\n');
    const named = list(path, '--all', '--reflog', 'HEAD');
    expect(await workspaces.removeFolder(folder, 'a-1', true)).toMatchObject({ type: 'removed' });
    const kept = list(repository, '--all');
    const [ids, trees] = [0, 1].map((at) => new Set(kept.map((line) => line.split(' ')[at])));
    // A commit with another message only has the same files.
    const lost = named.filter((line) => !ids?.has(line.split(' ')[0]) && !trees?.has(line.split(' ')[1]));
    expect(lost).toEqual([]);
    expect(findFaults(site)).toEqual([]);
  },
);

// @module-tag all
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync, appendFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe } from 'vitest';
import { git } from '../support/git.ts';
import { giveTo, NEEDS_ROOT, SOMEBODY, testEnvironments, type Environment, type Place } from './environment.ts';

/** Anew, in the place of the repository. */
function replace(place: Place, make: (from: string, to: string) => void): void {
  const from = join(place.root, 'origin');
  renameSync(place.repository, from);
  make(from, place.repository);
}
const clone =
  (...flags: string[]) =>
  (place: Place) =>
    replace(place, (from, to) => void git(place.root, 'clone', '-q', ...flags, `file://${from}`, to));

const CHECKOUTS: Environment[] = [
  {
    title: 'a subdirectory',
    lane: 'commit',
    ends: 'merged',
    arrange: (place) => (place.cwd = join(place.repository, 'sub')),
  },
  {
    title: 'a linked worktree',
    ends: 'merged',
    arrange: (place) => {
      place.cwd = join(place.root, 'worktree');
      place.into = 'side';
      place.git('worktree', 'add', '-q', '-b', 'side', place.cwd);
    },
  },
  {
    title: 'a git directory elsewhere',
    ends: 'merged',
    arrange: (place) => void place.git('init', '-q', `--separate-git-dir=${join(place.root, 'elsewhere.git')}`),
  },
  {
    title: 'a submodule',
    ends: 'merged',
    arrange: (place) =>
      replace(place, (from) => {
        const above = join(place.root, 'above');
        git(place.root, 'init', '-q', '-b', 'main', above);
        git(above, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', from, 'inner');
        place.repository = place.cwd = join(above, 'inner');
      }),
  },
  {
    title: 'a checkout through a link',
    ends: 'merged',
    arrange: (place) => {
      place.cwd = join(place.root, 'link');
      symlinkSync(place.repository, place.cwd);
    },
  },
  { title: 'a shallow clone', ends: 'merged', arrange: clone('--depth=1') },
  {
    title: 'a sparse checkout',
    ends: 'merged',
    arrange: (place) => void place.git('sparse-checkout', 'set', '--cone', 'other'),
  },
  {
    title: 'SHA-256',
    ends: 'merged',
    arrange: (place) => {
      rmSync(join(place.repository, '.git'), { recursive: true });
      place.git('init', '-q', '-b', 'main', '--object-format=sha256');
      place.git('add', '-A');
      place.git('commit', '-q', '-m', 'base');
    },
  },
  {
    title: 'objects borrowed from another repository',
    ends: 'merged',
    arrange: (place) => replace(place, (from, to) => void git(place.root, 'clone', '-q', '--shared', from, to)),
  },
  {
    title: 'a detached HEAD',
    ends: { at: 'merge', code: 2, says: /no branch is checked out/ },
    arrange: (place) => void place.git('checkout', '-q', '--detach'),
  },
  {
    title: 'a detached HEAD where there is no main',
    ends: { at: 'merge', code: 2, says: /no branch is checked out[\s\S]*git switch trunk/ },
    arrange: (place) => {
      place.git('branch', '-m', 'trunk');
      place.git('checkout', '-q', '--detach');
    },
  },
  {
    title: 'a branch with signs that shells read',
    ends: 'merged',
    arrange: (place) => {
      place.into = `feat/ü';x$(y)"&|`;
      place.git('checkout', '-q', '-b', place.into);
    },
  },
];

const REFUSED: Environment[] = [
  {
    title: 'no repository',
    lane: 'commit',
    ends: { code: 78, says: /not in a git|git init/ },
    arrange: ({ repository }) => rmSync(join(repository, '.git'), { recursive: true }),
  },
  {
    title: 'no commit',
    ends: { code: 78, says: /no commit yet/ },
    arrange: (place) => {
      rmSync(join(place.repository, '.git'), { recursive: true });
      place.git('init', '-q');
    },
  },
  {
    title: 'a partial clone',
    ends: { code: 78, says: /partial clone/ },
    arrange: (place) => {
      place.git('config', 'uploadpack.allowFilter', 'true');
      clone('--filter=blob:none', '--no-checkout')(place);
      place.git('config', 'remote.origin.promisor', 'true');
    },
  },
  {
    title: 'a bare repository',
    lane: 'commit',
    ends: { code: 78, says: /bare/ },
    arrange: (place) => {
      replace(place, (from, to) => void git(place.root, 'clone', '-q', '--bare', from, to));
    },
  },
  {
    title: 'inside of .git',
    ends: { code: 78, says: /inside|\.git/ },
    arrange: (place) => (place.cwd = join(place.repository, '.git', 'refs')),
  },
  {
    title: 'a repository of another user',
    unless: NEEDS_ROOT,
    ends: { code: 78, says: /owner|belongs to|safe\.directory/ },
    arrange: (place) => giveTo(place.repository, SOMEBODY),
  },
  {
    title: 'a broken configuration',
    ends: { code: 78, says: /config/ },
    arrange: ({ repository }) => appendFileSync(join(repository, '.git', 'config'), '[core\n'),
  },
  {
    title: 'a broken configuration of the person',
    ends: { code: 78, says: /config/ },
    arrange: ({ root }) => writeFileSync(join(root, 'home', '.gitconfig'), '[user\nname\n'),
  },
  {
    title: 'an extension that git does not know',
    ends: { code: 78, says: /extension/ },
    arrange: (place) => {
      place.git('config', 'core.repositoryFormatVersion', '1');
      place.git('config', 'extensions.unheardOf', 'true');
    },
  },
  {
    title: 'a worktree whose repository has moved',
    ends: { code: 78, says: /worktree|moved|not there/ },
    arrange: (place) => {
      place.cwd = join(place.root, 'worktree');
      place.git('worktree', 'add', '-q', '-b', 'side', place.cwd);
      renameSync(place.repository, join(place.root, 'moved'));
    },
  },
  {
    title: 'an alternate store that is gone',
    ends: { code: 78, says: /object|alternate/ },
    arrange: (place) =>
      replace(place, (from, to) => {
        git(place.root, 'clone', '-q', '--shared', from, to);
        rmSync(from, { recursive: true });
      }),
  },
  {
    title: 'a HEAD that says nothing',
    ends: { code: 78, says: /HEAD/ },
    arrange: ({ repository }) => writeFileSync(join(repository, '.git', 'HEAD'), 'nonsense\n'),
  },
  {
    title: 'a work tree elsewhere',
    ends: { code: 78, says: /core\.worktree|work tree/ },
    arrange: (place) => void place.git('config', 'core.worktree', join(place.root, 'outside')),
  },
  {
    title: 'a folder that is gone',
    ends: { code: 78, says: /folder/ },
    arrange: (place) => {
      const gone = join(place.repository, 'gone');
      mkdirSync(gone);
      place.prelude = `cd '${gone}' && rmdir '${gone}'`;
    },
  },
  {
    title: 'a branch called squad',
    ends: { code: 78, says: /git branch -m squad/ },
    arrange: (place) => void place.git('branch', 'squad'),
  },
  {
    title: 'a ref where refs of runs have to be',
    ends: { code: 78, says: /refs\/squad/ },
    arrange: (place) => void place.git('update-ref', 'refs/squad', 'HEAD'),
  },
  {
    title: 'packed refs that another git has locked',
    ends: { code: 75, says: /packed-refs\.lock/ },
    arrange: ({ repository }) => writeFileSync(join(repository, '.git', 'packed-refs.lock'), ''),
  },
];

const REFS: Environment[] = [
  {
    title: 'a tag called HEAD',
    lane: 'all',
    ends: 'merged',
    arrange: (place) => void place.git('tag', 'HEAD'),
  },
  {
    title: 'a branch called HEAD',
    ends: 'merged',
    arrange: (place) => void place.git('update-ref', 'refs/heads/HEAD', 'HEAD'),
  },
  {
    title: 'a branch below the one of the run',
    ends: 'merged',
    arrange: (place) => void place.git('branch', 'squad/make-things/deep'),
  },
  {
    title: 'a tag like the branch of the run',
    ends: 'merged',
    arrange: (place) => void place.git('tag', 'squad/make-things'),
  },
  { title: 'a tag like the branch of the person', ends: 'merged', arrange: (place) => void place.git('tag', 'main') },
  {
    title: 'two thousand branches',
    ends: 'merged',
    arrange: ({ repository }) => {
      const head = git(repository, 'rev-parse', 'HEAD');
      const lines = Array.from({ length: 2000 }, (_, index) => `${head} refs/heads/branch-${index}\n`);
      writeFileSync(
        join(repository, '.git', 'packed-refs'),
        `# pack-refs with: peeled fully-peeled\n${lines.toSorted().join('')}`,
      );
    },
  },
  ...['HEAD.lock', 'refs/heads/main.lock'].map(
    (lock): Environment => ({
      title: `a lock of another git: ${lock}`,
      ends: { at: 'merge', code: 75, says: /lock/ },
      arrange: ({ repository }) => {
        mkdirSync(dirname(join(repository, '.git', lock)), { recursive: true });
        writeFileSync(join(repository, '.git', lock), '');
      },
    }),
  ),
];

describe('checkouts', () => testEnvironments(CHECKOUTS));
describe('what is no checkout for a run', () => testEnvironments(REFUSED));
describe('refs', () => testEnvironments(REFS));

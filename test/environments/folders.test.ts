// @module-tag all
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { DISK } from '../support/templates.ts';
import { NEEDS_ROOT, SOMEBODY, testEnvironments, type Environment, type Place } from './environment.ts';

const moveTo = (name: string) => (place: Place) => {
  const folder = join(place.root, name);
  mkdirSync(dirname(folder), { recursive: true });
  renameSync(place.repository, folder);
  place.repository = place.cwd = folder;
};
const set = (more: Readonly<Record<string, string | undefined>>) => (place: Place) =>
  void Object.assign(place.env, more);
/** Root writes everywhere. */
const asSomebody = (arrange: (place: Place) => void) => (place: Place) => {
  place.as = SOMEBODY;
  arrange(place);
};

const PATHS: Environment[] = [
  {
    title: 'a path with spaces, quotes, signs of shells and an emoji',
    lane: 'commit',
    ends: 'merged',
    arrange: moveTo(`it's "a" $place\`* [of] \\ 🚀`),
  },
  { title: 'a path of 200 characters', ends: 'merged', arrange: moveTo('x'.repeat(200)) },
  { title: 'a path with a line break', ends: { code: 78, says: /line break/ }, arrange: moveTo('two\nlines') },
  { title: 'a path that begins with a dash', ends: 'merged', arrange: moveTo('-rf') },
  {
    title: 'a path of 900 characters',
    ends: 'merged',
    arrange: moveTo(Array.from({ length: 9 }, () => 'x'.repeat(100)).join('/')),
  },
];

const HOMES: Environment[] = [
  {
    title: 'a home and a state folder with spaces',
    ends: 'merged',
    arrange: ({ root, env }) =>
      Object.assign(env, { HOME: join(root, 'my home'), XDG_STATE_HOME: join(root, 'my state') }),
  },
  {
    title: 'a home in the repository',
    ends: 'merged',
    arrange: ({ repository, env }) => Object.assign(env, { HOME: join(repository, 'home'), XDG_STATE_HOME: undefined }),
  },
  {
    title: 'a state folder with a relative path, which does not count',
    ends: 'merged',
    arrange: set({ XDG_STATE_HOME: 'state' }),
  },
  ...[
    ['empty', ''],
    ['relative', 'home'],
    ['.', '.'],
  ].map(
    ([title, HOME]): Environment => ({
      title: `a home that is ${title}, of a user without a name`,
      unless: NEEDS_ROOT,
      ends: { code: 78, says: /HOME/ },
      arrange: asSomebody(set({ HOME, XDG_STATE_HOME: undefined, XDG_CONFIG_HOME: undefined })),
    }),
  ),
  {
    title: 'a home that is a file',
    ends: { code: 78, says: /\/file|HOME/ },
    arrange: ({ root, env }) => Object.assign(env, { HOME: join(root, 'outside', 'file'), XDG_STATE_HOME: undefined }),
  },
  {
    title: 'a home that cannot be written',
    unless: NEEDS_ROOT,
    ends: 'merged',
    arrange: asSomebody(({ env }) => (env['HOME'] = '/usr')),
  },
];

const STATE: Environment[] = [
  ...(
    [
      ['a state folder behind a link', 'state'],
      ['a folder of squad behind a link', 'state/squad'],
      ['a home behind a link', 'a/home'],
    ] as const
  ).map(
    ([title, link]): Environment => ({
      title,
      ...(link === 'state' ? { lane: 'all' } : {}),
      ends: 'merged',
      arrange: ({ root, env }) => {
        mkdirSync(join(root, 'elsewhere'));
        mkdirSync(dirname(join(root, link)), { recursive: true });
        symlinkSync(join(root, 'elsewhere'), join(root, link));
        if (link === 'a/home') Object.assign(env, { HOME: join(root, link), XDG_STATE_HOME: undefined });
        else env['XDG_STATE_HOME'] = join(root, 'state');
      },
    }),
  ),
  {
    title: 'a state folder on another file system than the repository',
    unless:
      statSync(process.env[DISK] ?? tmpdir()).dev === statSync(tmpdir()).dev
        ? 'all temporary files are on one file system'
        : undefined,
    ends: 'merged',
    arrange: (place) => {
      place.env['XDG_STATE_HOME'] = mkdtempSync(join(process.env[DISK] ?? tmpdir(), 'squad-other-'));
    },
  },
  {
    title: 'a state folder that is a file',
    ends: { code: 78, says: /state/ },
    arrange: ({ root }) => writeFileSync(join(root, 'state'), ''),
  },
  {
    title: 'a state folder that is a dangling link',
    ends: { code: 78, says: /state/ },
    arrange: ({ root }) => symlinkSync('/nowhere/at/all', join(root, 'state')),
  },
  {
    title: 'a state folder of another user',
    unless: NEEDS_ROOT,
    ends: { code: 75, says: /state/ },
    arrange: asSomebody((place) => {
      const folder = join(place.root, 'outside', 'state');
      mkdirSync(folder, { mode: 0o700 });
      place.env['XDG_STATE_HOME'] = folder;
      place.settled = () => chownSync(folder, 0, 0);
    }),
  },
];

const TEMPORARY: Environment[] = [
  {
    title: 'TMPDIR that is gone',
    lane: 'all',
    ends: 'merged',
    arrange: set({ TMPDIR: '/nowhere/tmp' }),
  },
  { title: 'TMPDIR that is relative', ends: 'merged', arrange: set({ TMPDIR: 'tmp' }) },
  {
    title: 'TMPDIR that is a file',
    ends: 'merged',
    arrange: ({ root, env }) => (env['TMPDIR'] = join(root, 'outside', 'file')),
  },
  {
    title: 'TMPDIR that cannot be written',
    unless: NEEDS_ROOT,
    ends: 'merged',
    arrange: asSomebody(({ env }) => (env['TMPDIR'] = '/usr')),
  },
];

/** Of a user who is not root, who could write there anyway. */
const closed = (name: string) =>
  asSomebody((place) => {
    place.prelude = `chmod a-w '${join(place.repository, name)}'`;
  });
const READ_ONLY: Environment[] = [
  ...['.git', '.git/objects', '.git/refs'].map(
    (name): Environment => ({
      title: `${name} that cannot be written`,
      unless: NEEDS_ROOT,
      ends: { code: 78, says: new RegExp(`\\${name}\\b.*(writ|permission)|(writ|permission).*\\${name}\\b`, 'is') },
      arrange: closed(name),
    }),
  ),
  {
    title: 'a .squad that is a file',
    ends: 'merged',
    arrange: ({ repository }) => writeFileSync(join(repository, '.squad'), ''),
  },
  {
    title: 'a .squad that is a link to another folder',
    ends: 'merged',
    arrange: ({ repository, root }) => {
      mkdirSync(join(root, 'elsewhere'));
      chmodSync(join(root, 'elsewhere'), 0o755);
      symlinkSync(join(root, 'elsewhere'), join(repository, '.squad'));
    },
    afterwards: ({ root }) => {
      expect(statSync(join(root, 'elsewhere')).mode & 0o777).toBe(0o755);
    },
  },
];

/** Two users who work in one repository, as `git init --shared` makes it. */
const colleagues = (umask: string): Environment => ({
  title: `a repository of a group, and umask ${umask}`,
  unless: NEEDS_ROOT,
  ends: 'merged',
  arrange: (place) => {
    place.git('config', 'core.sharedRepository', 'group');
    place.as = { ...SOMEBODY, group: GROUP };
    place.prelude = `umask ${umask}`;
    place.settled = () => {
      const { repository } = place;
      const folders = `find '${repository}' -type d -exec chmod 2775 {} +`;
      place.shell(`chgrp -R ${GROUP} '${repository}'; ${folders}; chmod -R g+rw '${repository}'`, undefined);
      expect(asColleague(place), 'before squad').toContain('base');
    };
  },
  afterwards: (place) => {
    expect(asColleague(place)).toContain('one.txt');
  },
});
/** What the other user reads of the branch. */
function asColleague(place: Place): string {
  const line = `git -c safe.directory='*' -C '${place.repository}' log -p main --`;
  return place.shell(line, { uid: SOMEBODY.uid + 1, gid: GROUP }).text;
}
/** Of the repository; neither of its users has it as the first one. */
const GROUP = 5000;

describe('where the repository is', () => testEnvironments(PATHS));
describe('homes', () => testEnvironments(HOMES));
describe('state folders', () => testEnvironments(STATE));
describe('temporary files', () => testEnvironments(TEMPORARY));
describe('what cannot be written', () => testEnvironments(READ_ONLY));
describe('two users of one group', () => testEnvironments([colleagues('027'), colleagues('077')]));

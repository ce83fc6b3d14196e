// @module-tag all
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { NEEDS_ROOT, SOMEBODY, testEnvironments, type Environment, type Place } from './environment.ts';

const shell = (prelude: string) => (place: Place) => void (place.prelude = prelude);
const set = (more: Readonly<Record<string, string | undefined>>) => (place: Place) =>
  void Object.assign(place.env, more);
/** Everything that squad keeps for itself is for this user alone, whatever the umask. */
const isPrivate = ({ root, repository }: Place): void => {
  const folders = [join(root, 'state', 'squad'), join(repository, '.squad')].filter((path) =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory(),
  );
  expect(folders.length).toBeGreaterThan(0);
  for (const folder of folders) expect(statSync(folder).mode & 0o077, folder).toBe(0);
};
/** A program of this name before the real one. */
const wrapper = (name: string, text: string) => (place: Place) => {
  writeFileSync(join(place.root, 'bin', name), text.replaceAll('REAL', `${process.env['PATH']}/${name}`), {
    mode: 0o755,
  });
  place.env['PATH'] = `${join(place.root, 'bin')}:${process.env['PATH']}`;
};

const LIMITS: Environment[] = [
  ...['000', '027', '077'].map(
    (umask): Environment => ({
      title: `umask ${umask}`,
      ends: 'merged',
      arrange: shell(`umask ${umask}`),
      afterwards: isPrivate,
    }),
  ),
  { title: '256 open files', ends: 'merged', arrange: shell('ulimit -n 256') },
  { title: '64 open files', lane: 'commit', ends: 'merged', arrange: shell('ulimit -n 64') },
  {
    title: '40 open files',
    ends: { code: 75, says: /open files|EMFILE/ },
    arrange: shell('ulimit -n 40'),
  },
  {
    title: 'files of at most 100 KB',
    ends: { code: 75, says: /ulimit -f/ },
    arrange: shell('ulimit -f 200'),
  },
  {
    title: '24 processes',
    unless: NEEDS_ROOT,
    ends: { code: 75, says: /out of processes \(`ulimit -u`\)/ },
    arrange: (place) => {
      // Nobody else has this number: processes of all tests of one user would count.
      place.as = { uid: SOMEBODY.uid + 2, gid: SOMEBODY.gid };
      // Shells have two names for it.
      place.prelude = '(ulimit -u 24) 2>/dev/null && ulimit -u 24 || ulimit -p 24';
    },
  },
  {
    title: 'files of at most 4 MB',
    ends: { code: 75, says: /file size|ulimit -f|large/ },
    arrange: shell('ulimit -f 8192'),
  },
  { title: 'a small stack and no core', ends: 'merged', arrange: shell('ulimit -s 1024; ulimit -c 0') },
];

const OUTPUT: Environment[] = [
  { title: 'closed standard output', ends: 'merged', arrange: (place) => void (place.redirect = '>&-') },
  { title: 'closed standard error and input', ends: 'merged', arrange: (place) => void (place.redirect = '2>&- <&-') },
  {
    title: 'a full disk behind the output of commands that only print',
    ends: 'merged',
    arrange: () => undefined,
    afterwards: async (place) => {
      for (const args of [['status', '--json'], ['runs'], ['log', '--raw']]) {
        const { code, stderr } = await place.squad(args, '>/dev/full');
        expect(code, args.join(' ')).toBe(74);
        expect(stderr).toMatch(/output|write/);
      }
    },
  },
];

const SHELLS: Environment[] = [
  {
    title: 'no PATH',
    lane: 'commit',
    ends: { code: 78, says: /git is not on PATH/ },
    arrange: set({ PATH: undefined }),
  },
  { title: 'an empty PATH', ends: { code: 78, says: /git is not on PATH/ }, arrange: set({ PATH: '' }) },
  {
    title: 'a PATH with the folder itself, empty entries and 10 KB, and programs in the repository',
    ends: 'merged',
    arrange: (place) => {
      for (const name of ['git', 'sh', 'true', 'bwrap', 'gh'])
        writeFileSync(join(place.repository, name), `#!/bin/sh\ntouch '${place.root}/mark-${name}'\n`, { mode: 0o755 });
      place.env['PATH'] = `.::${'/nowhere:'.repeat(1200)}${process.env['PATH']}`;
    },
  },
  {
    title: 'git as a script with noise on standard error',
    ends: 'merged',
    arrange: wrapper('git', '#!/bin/sh\necho noise >&2\nexec REAL "$@"\n'),
  },
  {
    title: 'git as a script that needs a home',
    ends: 'merged',
    arrange: wrapper('git', '#!/bin/sh\n[ -n "$HOME" ] || exit 9\nexec REAL "$@"\n'),
  },
  {
    title: 'options of Node that load a module',
    ends: 'merged',
    arrange: ({ root, env }) => {
      const module = join(root, 'bin', 'preload.cjs');
      // Not in what squad starts: the player of scripts is Node, too.
      writeFileSync(
        module,
        `if (process.env.SQUAD_TURN_ID) require('node:fs').writeFileSync('${root}/mark-preload', '');\n`,
      );
      env['NODE_OPTIONS'] = `--require ${module}`;
    },
  },
  {
    title: 'options of Node for a small heap, and warnings as errors',
    ends: 'merged',
    arrange: set({ NODE_OPTIONS: '--max-old-space-size=256 --throw-deprecation', NODE_ENV: 'production' }),
  },
  {
    title: 'variables of CI',
    ends: 'merged',
    arrange: set({ CI: 'true', GITHUB_ACTIONS: 'true', GITLAB_CI: 'true', NO_COLOR: '1', TERM: undefined }),
  },
  {
    title: 'no locale, no terminal, no user',
    ends: 'merged',
    arrange: set({ LANG: 'C', LC_ALL: undefined, TERM: undefined, USER: undefined, SHELL: '/bin/false' }),
  },
  {
    title: 'a German locale, and a zone that there is not',
    ends: 'merged',
    arrange: set({ LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8', LANGUAGE: 'de', TZ: 'Nowhere/Land' }),
  },
  {
    title: 'a very large environment',
    ends: 'merged',
    arrange: ({ env }) => {
      env['LARGE'] = 'x'.repeat(120_000);
      for (let index = 0; index < 500; index += 1) env[`MANY_${index}`] = 'y'.repeat(64);
    },
  },
  {
    title: 'a user without a name',
    unless: NEEDS_ROOT,
    ends: 'merged',
    arrange: (place) => void (place.as = SOMEBODY),
  },
];

describe('limits', () => testEnvironments(LIMITS));
describe('standard output', () => testEnvironments(OUTPUT));
describe('the shell', () => testEnvironments(SHELLS));

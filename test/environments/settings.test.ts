// @module-tag all
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { author } from '../runs/run-script.ts';
import { testEnvironments, type Environment, type Place } from './environment.ts';

function write(path: string, text: string, mode = 0o644): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
  chmodSync(path, mode);
  return path;
}
/** In a commit of the repository. */
const attributes = (line: string) => (place: Place) => {
  write(join(place.repository, '.gitattributes'), `${line}\n`);
  place.git('add', '.gitattributes');
  place.git('-c', 'core.attributesFile=/dev/null', 'commit', '-q', '-m', 'attributes');
};
const config =
  (...pairs: readonly (readonly [string, string])[]) =>
  (place: Place) => {
    for (const [key, value] of pairs) place.git('config', key, value);
  };
/** The author of task `one` leaves a file that it has not committed: squad itself has to keep it. */
function leaves(place: Place, path: string, text: string): void {
  const [first, ...rest] = place.script.slice(1);
  if (first === undefined) return;
  const steps = [...first.steps.slice(0, -1), { write: { path, text } }, { answer: 'done' }];
  place.script = [...place.script.slice(0, 1), { ...first, steps }, ...rest];
}

/** It writes these files before it commits all that there is. */
function alsoWrites(place: Place, files: Readonly<Record<string, string>>): void {
  const writes = Object.entries(files).map(([path, text]) => ({ write: { path, text } }));
  const [paid, ...rest] = place.script[1]?.steps ?? [];
  place.script[1] = author('one', [...(paid === undefined ? [] : [paid]), ...writes, ...rest]);
}
const notInMain = (file: string) => (place: Place) => {
  expect(place.git('ls-tree', '-r', '--name-only', 'main').split('\n')).not.toContain(file);
};

const STORED: Environment[] = [
  {
    title: 'nothing unusual, and a file that the agent has not committed',
    ends: 'merged',
    arrange: (place) => leaves(place, 'left.txt', 'left\n'),
  },
  { title: 'autocrlf=true', lane: 'commit', ends: 'merged', arrange: config(['core.autocrlf', 'true']) },
  { title: 'autocrlf=input', ends: 'merged', arrange: config(['core.autocrlf', 'input']) },
  {
    title: 'safecrlf=true with autocrlf=true',
    ends: 'merged',
    arrange: (place) => {
      config(['core.autocrlf', 'true'], ['core.safecrlf', 'true'])(place);
      leaves(place, 'left.txt', 'left\n');
    },
  },
  {
    title: 'working-tree-encoding=UTF-16',
    ends: 'merged',
    arrange: (place) => {
      attributes('*.enc working-tree-encoding=UTF-16')(place);
      leaves(place, 'left.enc', 'plain\n');
    },
  },
  { title: 'eol=crlf', ends: 'merged', arrange: attributes('*.txt text eol=crlf') },
  { title: 'ident', ends: 'merged', arrange: attributes('*.txt ident') },
  { title: 'export-ignore and merge=union', ends: 'merged', arrange: attributes('* export-ignore merge=union') },
  {
    title: 'a filter whose program is not installed',
    ends: { at: 'merge', code: 2, says: /filter/ },
    arrange: (place) => {
      attributes('*.txt filter=large')(place);
      config(
        ['filter.large.clean', 'not-installed clean'],
        ['filter.large.smudge', 'not-installed smudge'],
        ['filter.large.required', 'true'],
      )(place);
    },
  },
];

const IGNORED: Environment[] = [
  ...(['info/exclude', 'core.excludesFile'] as const).map(
    (where): Environment => ({
      title: `the work itself is ignored by ${where}`,
      ends: 'merged',
      arrange: (place) => {
        if (where === 'info/exclude') appendFileSync(join(place.repository, '.git', 'info', 'exclude'), 'one.txt\n');
        else config(['core.excludesFile', write(join(place.root, 'ignored'), 'one.txt\n')])(place);
        // It knows what to do once it is told that the file is ignored, and not before.
        place.script.splice(2, 0, {
          when: 'git add -f',
          steps: [
            { run: ['git', 'add', '-f', 'one.txt'] },
            { run: ['git', 'commit', '-q', '-m', 'work'] },
            { answer: 'done' },
          ],
        });
      },
    }),
  ),
  ...(['.config', 'xdg'] as const).map(
    (folder): Environment => ({
      title: `a secret that the person ignores everywhere, in ${folder === 'xdg' ? '$XDG_CONFIG_HOME' : '~/.config'}/git/ignore`,
      ends: 'merged',
      arrange: (place) => {
        const home = join(place.root, folder === 'xdg' ? 'xdg' : 'home/.config');
        if (folder === 'xdg') place.env['XDG_CONFIG_HOME'] = home;
        write(join(home, 'git', 'ignore'), '.env\n');
        alsoWrites(place, { '.env': 'SECRET=1\n' });
      },
      afterwards: notInMain('.env'),
    }),
  ),
  {
    title: 'a secret that .gitignore names',
    ends: 'merged',
    arrange: (place) => {
      write(join(place.repository, '.gitignore'), '.env\n');
      place.git('add', '.gitignore');
      place.git('commit', '-q', '-m', 'ignore');
      alsoWrites(place, { '.env': 'SECRET=1\n' });
    },
    afterwards: notInMain('.env'),
  },
];

const PROGRAMS: Environment[] = [
  {
    title: 'hooks that fail and hooks that leave marks',
    lane: 'all',
    ends: 'merged',
    arrange: ({ repository, root }) => {
      for (const name of [
        'pre-commit',
        'post-commit',
        'post-checkout',
        'pre-push',
        'reference-transaction',
        'post-merge',
      ])
        write(join(repository, '.git', 'hooks', name), `#!/bin/sh\ntouch '${root}/mark-${name}'\nexit 1\n`, 0o755);
    },
  },
  {
    title: 'signing, monitors, drivers, pagers and aliases',
    ends: 'merged',
    arrange: (place) => {
      const { marker } = place;
      const keys = ['gpg.program', 'core.fsmonitor', 'core.pager', 'core.editor', 'diff.external', 'merge.evil.driver'];
      config(
        ['commit.gpgSign', 'true'],
        ['alias.status', `!${marker}`],
        ...keys.map((key) => [key, marker] as const),
      )(place);
    },
  },
  {
    title: 'a configuration of the person that is hostile to scripts',
    ends: 'merged',
    arrange: ({ root, marker }) => {
      const lines = [
        `[init]\n\ttemplateDir = ${root}/template\n\tdefaultBranch = elsewhere`,
        '[commit]\n\tgpgSign = true\n\tverbose = true\n\tcleanup = verbatim',
        `[core]\n\thooksPath = ${root}/template/hooks\n\tquotepath = false\n\teditor = ${marker}\n\tpager = ${marker}`,
        '[color]\n\tui = always\n[diff]\n\tnoprefix = true\n\tmnemonicPrefix = true\n[status]\n\tshowUntrackedFiles = no',
        '[fetch]\n\tprune = true\n[gc]\n\tauto = 1\n[transfer]\n\thideRefs = refs/squad\n[merge]\n\tconflictStyle = diff3\n\tff = only',
        '[url "https://example.invalid/"]\n\tinsteadOf = /\n[rebase]\n\tautoStash = true\n[user]\n\tuseConfigOnly = true',
      ];
      write(join(root, 'home', '.gitconfig'), `${lines.join('\n')}\n`);
      write(join(root, 'template', 'hooks', 'post-checkout'), `#!/bin/sh\ntouch '${root}/mark-template'\n`, 0o755);
    },
  },
  {
    title: 'variables of git of all kinds, also of another repository',
    ends: 'merged',
    arrange: (place) => {
      Object.assign(place.env, {
        GIT_DIR: join(place.root, 'outside', '.git'),
        GIT_WORK_TREE: join(place.root, 'outside'),
        GIT_INDEX_FILE: '/nowhere/index',
        GIT_OBJECT_DIRECTORY: '/nowhere/objects',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'core.hooksPath',
        GIT_CONFIG_VALUE_0: join(place.root, 'bin'),
        GIT_NAMESPACE: 'other',
        GIT_EXTERNAL_DIFF: place.marker,
        GIT_SSH_COMMAND: place.marker,
        GIT_EDITOR: place.marker,
        GIT_TRACE: '1',
        GIT_PAGER: place.marker,
        GIT_ICASE_PATHSPECS: '1',
      });
    },
  },
];

describe('how files are stored', () => testEnvironments(STORED));
describe('what is ignored', () => testEnvironments(IGNORED));
describe('programs that git would run', () => testEnvironments(PROGRAMS));

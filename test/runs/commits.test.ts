import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';
import { some, SPREAD } from '../support/lane.ts';

const BRANCH = 'squad/make-things';
const SCRIPT = [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' }, 'Add a')), APPROVE_ALL];

const configure = ({ repository }: RunBench, set: Readonly<Record<string, string>>): void => {
  for (const [key, value] of Object.entries(set)) git(repository, 'config', key, value);
};

interface Case {
  readonly title: string;
  readonly warns: string;
  readonly author: string;
  arrange(bench: RunBench): void;
}

const SQUAD = 'squad <squad@squad.invalid>';
const USER = 'Test <test@example.invalid>';

const CASES: readonly Case[] = [
  {
    title: 'without an identity',
    warns: `agents commit as ${SQUAD}. Set them with`,
    author: SQUAD,
    arrange: ({ repository }) => {
      for (const key of ['user.name', 'user.email']) git(repository, 'config', '--unset', key);
    },
  },
  {
    title: 'without an identity, where git is forbidden to guess one',
    warns: `agents commit as ${SQUAD}`,
    author: SQUAD,
    arrange: (bench) => {
      for (const key of ['user.name', 'user.email']) git(bench.repository, 'config', '--unset', key);
      configure(bench, { 'user.useConfigOnly': 'true' });
    },
  },
  {
    title: 'with a gpg key that cannot be used',
    warns: 'commits by agents and squad are not signed',
    author: USER,
    arrange: (bench) =>
      configure(bench, { 'commit.gpgSign': 'true', 'gpg.program': '/bin/false', 'user.signingKey': 'X' }),
  },
  {
    title: 'with ssh signing',
    warns: 'Sign what you merge, with `git merge -S`.',
    author: USER,
    arrange: (bench) =>
      configure(bench, { 'commit.gpgSign': 'true', 'gpg.format': 'ssh', 'user.signingKey': '~/.ssh/none.pub' }),
  },
  {
    title: 'with a hook that refuses every commit',
    warns: 'has pre-commit. Put what they check into `verify` of squad.yaml.',
    author: USER,
    arrange: ({ repository }) =>
      writeFileSync(join(repository, '.git', 'hooks', 'pre-commit'), '#!/bin/sh\nexit 1\n', { mode: 0o755 }),
  },
  {
    title: 'with a filter that is broken and required',
    warns: 'squad runs no filters: files of broken',
    author: USER,
    arrange: (bench) => {
      const { repository } = bench;
      writeFileSync(join(repository, '.gitattributes'), '* filter=broken\n');
      git(repository, 'add', '.gitattributes');
      git(repository, 'commit', '-qm', 'attributes');
      configure(bench, { 'filter.broken.clean': '/bin/false', 'filter.broken.required': 'true' });
    },
  },
];

describe.concurrent('commits of agents', { timeout: 300_000 }, () => {
  it.each(some(CASES, 1))(
    'are delivered $title, unsigned and said before',
    SPREAD,
    async ({ warns, author: name, arrange }) => {
      const bench = openRunBench({ script: SCRIPT });
      try {
        arrange(bench);
        const config = join(bench.repository, '.git', 'config');
        const before = readFileSync(config, 'utf8');
        const ended = await bench.runAll();
        expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
        const warnings = ended.lines.flatMap(({ type, text }) => (type === 'warning' ? [String(text)] : []));
        expect(warnings.filter((text) => text.includes(warns))).toHaveLength(1);
        expect(bench.fileOnBranch('a.txt')).toBe('a');
        const made = git(
          bench.repository,
          'log',
          '--no-merges',
          '--format=%an <%ae>|%cn <%ce>|%G?|%s',
          `main..${BRANCH}`,
        );
        expect(made).toBe(`${name}|${name}|N|Add a`);
        expect(readFileSync(config, 'utf8')).toBe(before);
      } finally {
        bench.end();
      }
    },
  );
});

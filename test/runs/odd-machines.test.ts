// @module-tag all
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { shell } from '../cli/room.ts';
import { git } from '../support/git.ts';
import { some, SPREAD } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

function bench(): RunBench {
  const script = [
    plan([piece('one'), piece('two')]),
    author('one', commits({ 'one.txt': 'one\n' })),
    author('two', commits({ 'two.txt': 'two\n' })),
    APPROVE_ALL,
  ];
  return openRunBench({ script });
}

const RUN = 'squad run objective.md --runtime scripted --yes';

const PLACES: readonly (readonly [string, (root: string) => string])[] = [
  ['is gone', (root) => join(root, 'gone')],
  ['is relative', () => 'temporary'],
  ['is a file', (root) => (writeFileSync(join(root, 'file'), ''), join(root, 'file'))],
];

it.for(some(PLACES, 0, 1))('a TMPDIR that %s costs nothing, from the run to the merge', SPREAD, async ([, make]) => {
  const it = bench();
  const line = `export TMPDIR='${make(it.root)}'; ${RUN} && squad diff --stat && squad merge`;
  const run = await shell(it, line);
  expect(run.stderr).not.toMatch(/a bug/);
  expect(run.stdout).toMatch(/DONE[^]*one\.txt[^]*merged {4}squad\/make-things into main/);
  expect(run.code).toBe(0);
  // Scratch goes when what it was for has ended.
  expect(readdirSync(join(it.root, 'state/squad/git-scratch'))).toEqual([]);
  expect(existsSync(join(it.repository, 'temporary'))).toBe(false);
  it.end();
});

const LIMITS: readonly (readonly [string, string, RegExp])[] = [
  ['files of 4 MB', 'ulimit -f 8192', /larger than this user’s files may be \(`ulimit -f`\)/],
  ['40 open files', 'ulimit -n 40', /out of open files \(`ulimit -n`\)/],
];

it.for(some(LIMITS, 0, 1))(
  'a machine that allows only %s pauses the run, names the limit, and can go on',
  SPREAD,
  async ([, limit, said]) => {
    const it = bench();
    const run = await shell(it, `(${limit}; ${RUN})`);
    expect(run.stderr).toMatch(said);
    expect(run.stderr).not.toMatch(/a bug/);
    expect(run.code).toBe(75);
    const again =
      existsSync(join(stateOf(it.repository), 'squad.db')) && (await it.run(['runs', '--json'])).lines.length > 0;
    const whole = await shell(it, again ? 'squad resume' : RUN);
    expect(whole.stdout).toMatch(/DONE/);
    expect(git(it.repository, 'show', 'squad/make-things:two.txt')).toBe('two');
    it.end();
  },
);

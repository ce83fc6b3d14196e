// @module-tag all
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allCommands, examplesOf } from '../../scripts/commands-docs.ts';
import { decideEndCode } from '../../src/cli/end-code.ts';
import { openRunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../runs/run-script.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { git } from '../support/git.ts';
import { some, SPREAD, spread } from '../support/lane.ts';
import { commandRoom, shell } from './room.ts';

it.each([
  ['a command that only prints, and lost it', 'db export', 0, true, 74],
  ['a help text', '', 0, true, 74],
  ['a command that only prints, and found something', 'doctor', 78, true, 78],
  ['a command that did its work', 'merge', 0, true, 0],
  ['nothing lost', 'diff', 0, false, 0],
])('the code of %s', (_title, command, code, isLost, end) => {
  expect(decideEndCode(command, code, isLost)).toBe(end);
});

it(
  'tells of lost output by its code where output is all of a command, and never where it did something',
  SPREAD,
  async () => {
    const script = [plan([piece('one')]), author('one', commits({ 'one.txt': 'one\n' })), APPROVE_ALL];
    const bench = openRunBench({ script });
    expect((await bench.runAll()).code).toBe(0);
    const inRoom = { root: bench.root, repository: bench.repository };
    const all = ['diff', 'db export', 'status --json', 'log --raw', 'report', 'show', 'runs', '--help'];
    const commands = all.slice(0, spread(3, all.length));
    const ran = commands.map((command) => full(inRoom, command));
    expect(ran.map(({ code, stderr }) => [code, stderr.split('\n').length])).toEqual(commands.map(() => [74, 2]));
    expect(ran[0]?.stderr).toMatch(/^squad: the output could not be written: ENOSPC/);
    expect(full(inRoom, 'merge')).toMatchObject({ code: 0, stderr: expect.stringContaining('could not be written') });
    expect(git(bench.repository, 'show', 'main:one.txt')).toBe('one');
    // A reader that had enough is no loss.
    expect(await shell({ ...bench }, 'squad log --raw | head -c 1 >/dev/null; exit 0')).toMatchObject({ stderr: '' });
    bench.end();
  },
);

function full({ root, repository }: { root: string; repository: string }, command: string) {
  const ran = spawnSync('/bin/sh', ['-c', `"$NODE" "$MAIN" ${command} >/dev/full`], {
    cwd: repository,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: root,
      XDG_STATE_HOME: join(root, 'state'),
      NODE: process.execPath,
      MAIN: CLI_ENTRY,
    },
  });
  return { code: ran.status, stderr: ran.stderr };
}

it('never ends with 0 and no word where the command waits for something that never comes', async () => {
  const room = commandRoom();
  const never = `import fs from 'node:fs/promises'; import { syncBuiltinESMExports } from 'node:module';
    for (const name of ['access', 'open', 'readFile', 'stat']) fs[name] = () => new Promise(() => {}); syncBuiltinESMExports();`;
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(never)}`];
  const run = await room.start(['run', 'readme.md', '--yes', '--json'], {}, flags).finished;
  expect(run).toMatchObject({ code: 70, lines: [{ type: 'error', code: 'unfinished', exitCode: 70 }] });
  expect(run.stderr).toMatch(/^squad: the command ended before its end: [^\n]*\nNext: See with `squad status`/);
});

/** They wait for somebody, or play runs of their own. */
const WAITING = ['watch', 'studio', 'mcp', 'demo', 'team', 'mail listen', 'mail inbox'];

it('says so in each command that waits for something that never comes', { ...SPREAD, timeout: 300_000 }, async () => {
  const all = (await allCommands()).commands.flatMap((one) => [one, ...one.commands]);
  const examples = all.flatMap((one) => examplesOf(one)).filter((line) => /^squad [a-z]/.test(line));
  const tried = [...new Set(examples)].filter(
    (line) => !line.includes('>') && !WAITING.some((name) => line.startsWith(`squad ${name}`)),
  );
  const never = `import fs from "node:fs/promises"; import { syncBuiltinESMExports } from "node:module";
      for (const name of ["access", "lstat", "open", "readFile", "readdir", "stat"]) fs[name] = () => new Promise(() => {}); syncBuiltinESMExports();`;
  const options = `--import data:text/javascript,${encodeURIComponent(never)}`;
  const room = commandRoom();
  const wrong: string[] = [];
  const codes: (number | null)[] = [];
  for (const line of some(tried, 0, 12)) {
    const ran = await shell(room, `export NODE_OPTIONS='${options}'; ${line} </dev/null`);
    codes.push(ran.code);
    if (`${ran.stdout}${ran.stderr}`.trim() === '') wrong.push(`${line}: exit ${ran.code}, and no word`);
    // Short commands may need no file.
    if (ran.code !== 70 && !/^(?:squad: |Usage:)/m.test(ran.stderr) && ran.stdout.trim() === '')
      wrong.push(`${line}: ${ran.stderr}`);
    if (ran.stderr.includes('ended before its end') && ran.code !== 70) wrong.push(`${line}: exit ${ran.code}`);
  }
  expect(wrong).toEqual([]);
  // Most of them have to wait.
  expect(codes).toContain(70);
});

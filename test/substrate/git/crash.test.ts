// @module-tag all
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readProcess } from '../../../src/substrate/system/process/process-table.ts';
import { git } from '../../support/git.ts';
import { findFaults, fingerprint, openBench, removeFolders, type GitBench } from './bench.ts';
import { ENGINE_CHILD, playRun, withSpares } from './engine-child.ts';
import { ALL, some, SPREAD } from '../../support/lane.ts';

/** What a test has stopped must not outlive it, also when the test fails. */
const stopped: number[] = [];
afterEach(() => {
  for (const pid of stopped.splice(0)) if (readProcess(pid) !== undefined) process.kill(pid, 'SIGKILL');
  removeFolders();
});

const POINTS = [
  'git.before-folder',
  'git.folder-filled',
  'git.directory-moved',
  'git.after-folder',
  'git.branch-created',
  'git.before-rescue',
  'git.rescued',
  'git.before-checkout',
  'git.checked-out',
  'git.merged',
  'git.candidate-made',
  'git.before-advance',
  'git.delivered',
  'git.advanced',
  'git.before-removal',
  'git.half-removed',
  'git.removed',
  'git.run-aside',
] as const;

/** Each time that a run gets there. */
const SPARE_POINTS = [
  ...[1, 2].map((pass) => ['git.spare-claimed', pass] as const),
  ...[1, 2].map((pass) => ['git.spare-taken', pass] as const),
  ...[1, 2, 3, 4].map((pass) => ['git.spare-moved', pass] as const),
  ...[1, 2, 3, 4].map((pass) => ['git.spare-made', pass] as const),
  ...[1, 2].map((pass) => ['git.moved-aside', pass] as const),
];
const TWENTY = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`src/${n % 3}/${n}.txt`, `${n}\n`]));

const MANY = Object.fromEntries(
  Array.from({ length: 2000 }, (_, n) => [`src/${n % 50}/${n}.txt`, `${n}\n`.repeat(40)]),
);

describe('SIGKILL of the engine, then another one', () => {
  it.each(some(POINTS, 0, 1))('at %s: the run ends as if nothing had happened', SPREAD, async (point) => {
    const bench = await openBench({ 'a.txt': 'a\n' });
    const before = fingerprint(bench.repository);
    // The second pass where there is one: then there is work of the first task to lose.
    const pass = ['git.branch-created', 'git.merged', 'git.run-aside'].includes(point) ? 1 : 2;
    expect(await endOf(startEngine(bench, `${point}:${pass}=kill`))).toBe('SIGKILL');
    await expectSameEnd(bench, before);
  });

  it.each(some(SPARE_POINTS, 0, 1))('at %s, with folders that are used again', SPREAD, async (point, pass) => {
    const bench = await openBench(TWENTY);
    const before = fingerprint(bench.repository);
    const spares = { SQUAD_TEST_SPARES: '2' };
    expect(await endOf(startEngine(bench, `${point}:${pass}=kill`, '/usr/bin/git', 'run', spares))).toBe('SIGKILL');
    const next = withSpares(bench, 2);
    await playRun(next);
    while (await next.workspaces.tidySpares()) continue;
    expect(git(bench.repository, 'ls-tree', '--name-only', 'squad/run', 'one.txt', 'two.txt')).toBe('one.txt\ntwo.txt');
    expect(fingerprint(bench.repository)).toEqual(before);
    expect(findFaults(bench)).toEqual([]);
    expect(readdirSync(bench.ports.runsDirectory)).toEqual(['.spare']);
    const states = readdirSync(join(bench.ports.runsDirectory, '.spare')).flatMap((name) => name.split('.')[1] ?? []);
    expect(states).toEqual(['ready', 'ready']);
    await next.workspaces.dropSpares();
    expect(readdirSync(bench.ports.runsDirectory)).toEqual([]);
  });

  it('with a git that goes on in the middle of filling a worktree', async () => {
    const bench = await openBench(MANY);
    const before = fingerprint(bench.repository);
    const left = await killWhile(bench, 'one');
    await expectSameEnd(bench, before);
    expect(readProcess(left)).toBeUndefined();
  });

  it('with a git that goes on in the middle of checking a candidate out', ALL, async () => {
    const bench = await openBench(MANY);
    const before = fingerprint(bench.repository);
    const left = await killWhile(bench, '_integration');
    await expectSameEnd(bench, before);
    expect(readProcess(left)).toBeUndefined();
  });

  it('with what git leaves when it is killed early in filling a folder, and a ref that stays locked', ALL, async () => {
    const bench = await openBench();
    const before = fingerprint(bench.repository);
    await endOf(startEngine(bench, 'git.before-folder=kill'));
    const folder = join(bench.ports.runsDirectory, 'run');
    mkdirSync(join(folder, 'one'));
    writeFileSync(join(folder, 'one', 'a.txt'), 'half');
    writeFileSync(join(folder, '.squad', 'one.index.lock'), '');
    writeFileSync(join(bench.repository, '.git/refs/heads/squad/run.lock'), '');
    await expectSameEnd(bench, before);
  });
});

describe('four engines on one repository', () => {
  it('do not get into each other’s way, even when one of them is killed', async () => {
    const bench = await openBench();
    const before = fingerprint(bench.repository);
    const runs = ['one', 'two', 'three', 'four'];
    const points = ['', 'git.folder-filled:2=kill', '', ''];
    const engines = runs.map((run, n) => startEngine(bench, points[n] ?? '', '/usr/bin/git', run));
    expect(await Promise.all(engines.map(endOf))).toEqual([0, 'SIGKILL', 0, 0]);
    await playRun(bench, 'two');
    for (const run of runs) expect(git(bench.repository, 'show', `squad/${run}:two.txt`)).toBe('two');
    expect(fingerprint(bench.repository)).toEqual(before);
    expect(findFaults(bench)).toEqual([]);
  });
});

/** In the same process: a test of what is left, not of a start. */
async function expectSameEnd(bench: GitBench, before: Record<string, string>): Promise<void> {
  await playRun(bench);
  expect(git(bench.repository, 'ls-tree', '--name-only', 'squad/run')).toMatch(
    /^(?:a\.txt\n)?draft\.txt\none\.txt\nreadme\.md\n(?:src\n)?two\.txt$/,
  );
  expect(git(bench.repository, 'for-each-ref', '--format=%(refname)', 'refs/squad')).toBe(
    'refs/squad/run/one-1\nrefs/squad/run/two-1',
  );
  expect(fingerprint(bench.repository)).toEqual(before);
  expect(findFaults(bench)).toEqual([]);
  expect(readdirSync(bench.ports.runsDirectory)).toEqual([]);
}

/** Stops git in the middle of filling a worktree, so that it surely outlives its engine, and kills the engine. */
async function killWhile(bench: GitBench, name: string): Promise<number> {
  const wrapper = join(bench.root, 'git');
  const pid = join(bench.root, 'git.pid');
  const script = `#!/bin/sh
case "$GIT_INDEX_FILE $*" in
  */${name}.fill/index" "*read-tree*)
    /usr/bin/git "$@" & child=$!
    until [ -e "$GIT_INDEX_FILE.lock" ]; do :; done
    kill -STOP $child
    echo $child > ${pid}.new && mv ${pid}.new ${pid}
    wait ;;
  *) exec /usr/bin/git "$@" ;;
esac
`;
  writeFileSync(wrapper, script);
  chmodSync(wrapper, 0o755);
  const engine = startEngine(bench, '', wrapper);
  while (!existsSync(pid)) {
    if (engine.exitCode !== null) throw new Error('the engine was faster');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const gitPid = Number(readFileSync(pid, 'utf8'));
  stopped.push(gitPid);
  engine.kill('SIGKILL');
  await endOf(engine);
  expect(readProcess(gitPid)).toBeDefined();
  expect(existsSync(join(bench.ports.runsDirectory, 'run/.squad', `${name}.fill/index.lock`))).toBe(true);
  return gitPid;
}

function startEngine(
  bench: GitBench,
  failpoints: string,
  binary = '/usr/bin/git',
  run = 'run',
  environment: Readonly<Record<string, string>> = {},
): ChildProcess {
  const args = [ENGINE_CHILD, bench.root, bench.repository, failpoints, binary, run];
  return spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env['PATH'], ...environment },
  });
}

async function endOf(child: ChildProcess): Promise<string | number | null> {
  if (child.signalCode !== null || child.exitCode !== null) return child.signalCode ?? child.exitCode;
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
}

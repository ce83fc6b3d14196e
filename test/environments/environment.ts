import { spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { createRepository, git } from '../support/git.ts';
import { killAll, markedPids } from '../support/marked-pids.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan, type Entry } from '../runs/run-script.ts';

/** A place in which a person may work. Rows of the tables change it before squad comes. */
export interface Place {
  readonly root: string;
  /** What leaves a mark in `root` when it runs, as poison does. */
  readonly marker: string;
  repository: string;
  /** Where squad is started. */
  cwd: string;
  /** Complete; undefined: not set. */
  env: Record<string, string | undefined>;
  /** A line of shell before each command: `umask 077`, `ulimit -n 64`. */
  prelude: string;
  /** Redirections of `squad run`. */
  redirect: string;
  /** Another user; needs root. */
  as: User | undefined;
  /** Called once everything is written and belongs to that user. */
  settled: (() => void) | undefined;
  script: Entry[];
  settings: Record<string, unknown>;
  /** The branch that gets the work. */
  into: string;
  git(...args: string[]): string;
  squad(args: readonly string[], redirect?: string): Promise<Ended>;
  /** As the row's user, or as another one; `undefined`: as root. */
  shell(line: string, ...as: [] | [User | undefined]): { readonly code: number | null; readonly text: string };
}

interface User {
  readonly uid: number;
  readonly gid: number;
  /** Besides the user's own. */
  readonly group?: number;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Environment {
  readonly title: string;
  readonly arrange: (place: Place) => void;
  /**
   * `merged`: done, merged, with the right files. Otherwise the sentence with the true cause, and the documented exit code, of this
   * command: before `run` has paid for a turn, or of `merge` after a run that is done.
   */
  readonly ends: 'merged' | { readonly says: RegExp; readonly code: number; readonly at?: 'merge' };
  /** What else has to be true at the end. */
  readonly afterwards?: (place: Place) => void | Promise<void>;
  /** Absent: a fifth of the rows is in `npm run test:all`, and the others are in `npm run test:night`. */
  readonly lane?: 'commit' | 'all';
  /** Why it cannot be made here; undefined: it can. */
  readonly unless?: string | undefined;
}

const isRoot = process.getuid?.() === 0;
/** Of rows that become another user, or give files away. */
export const NEEDS_ROOT = isRoot ? undefined : 'only root can become another user';
export const SOMEBODY = { uid: 4242, gid: 4343 };

/** What must be in no output: squad's word for its own mistakes, and a stack. */
const MISTAKE = /\ba bug\b|^\s+at .+:\d+:\d+\)?$/m;
/** docs/errors.md. */
const DOCUMENTED = [1, 2, 3, 4, 65, 74, 75, 78];

const FILES = { 'one.txt': 'one\n', 'two.txt': 'two\n' };

/** A row that is not on commit runs in `npm run test:all` if five divides its place in the list, and at night otherwise. */
export function testEnvironments(rows: readonly Environment[]): void {
  for (const [index, row] of rows.entries()) {
    const { lane = index % 5 === 0 ? 'all' : 'night' } = row;
    const tags = lane === 'commit' ? [] : [lane];
    const title = row.unless === undefined ? row.title : `${row.title} (skipped: ${row.unless})`;
    const test = row.unless === undefined ? it : it.skip;
    test(title, { timeout: 120_000, tags }, async () => tryEnvironment(row));
  }
}

async function tryEnvironment(row: Environment): Promise<void> {
  const place = openPlace();
  try {
    row.arrange(place);
    settle(place);
    await judge(row, place);
    await row.afterwards?.(place);
    expect(
      readdirSync(place.root).filter((name) => name.startsWith('mark-')),
      'programs that ran',
    ).toEqual([]);
    expect(readFileSync(join(place.root, 'outside', 'file'), 'utf8')).toBe('untouched\n');
  } finally {
    close(place);
  }
}

async function judge({ ends }: Environment, place: Place): Promise<void> {
  const run = await place.squad(['run', 'objective.md', '--runtime', 'scripted', '--yes', '--plain'], place.redirect);
  const said = `${run.stdout}${run.stderr}`;
  expect(said).not.toMatch(MISTAKE);
  if (ends !== 'merged' && ends.at === undefined) {
    expectSentence(run, ends);
    expect(turnsPaid(place), 'turns that were paid').toBe(0);
    return;
  }
  expect(run.code, said).toBe(0);
  for (const command of ['status', 'diff']) {
    const looked = await place.squad([command]);
    expect(looked.code, looked.stderr).toBe(0);
    expect(looked.stdout).toMatch(command === 'status' ? /done/i : /one\.txt/);
  }
  const merged = await place.squad(['merge']);
  expect(`${merged.stdout}${merged.stderr}`).not.toMatch(MISTAKE);
  if (ends !== 'merged') {
    expectSentence(merged, ends);
    return;
  }
  expect(merged.code, merged.stderr).toBe(0);
  for (const [name, text] of Object.entries(FILES)) {
    expect(place.git('show', `refs/heads/${place.into}:${name}`).trim(), name).toBe(text.trim());
  }
  const dropped = await place.squad(['drop', '--all', '--yes']);
  expect(dropped.code, dropped.stderr).toBe(0);
}

function expectSentence({ code, stdout, stderr }: Ended, ends: Exclude<Environment['ends'], 'merged'>): void {
  const said = `${stdout}${stderr}`;
  expect(said).toMatch(ends.says);
  expect(said).toMatch(/^Next: /m);
  // Advice for another cause: obeyed in a home whose dotfiles are in git, it would commit the home.
  if (!ends.says.source.includes('git init')) expect(said).not.toMatch(/git init|git fsck/);
  expect(DOCUMENTED).toContain(ends.code);
  expect(code, said).toBe(ends.code);
}

function turnsPaid({ root }: Place): number {
  return readFileSync(join(root, 'effects'), 'utf8').split('\n').length - 1;
}

function openPlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-environment-')));
  spawnSync('chmod', ['755', root]);
  for (const name of ['home', 'outside', 'bin']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'outside', 'file'), 'untouched\n');
  writeFileSync(join(root, 'effects'), '');
  spawnSync('chmod', ['666', join(root, 'effects')]);
  const marker = join(root, 'bin', 'marker');
  writeFileSync(marker, `#!/bin/sh\ntouch '${root}/mark-program'\ncat\n`, { mode: 0o755 });
  const repository = createRepository(join(root, 'repository'), { 'a.txt': 'a\n', 'sub/b.txt': 'b\n' });
  const paid = { run: ['sh', '-c', `echo turn >>'${root}/effects'`] };
  const place: Place = {
    root,
    marker,
    repository,
    cwd: repository,
    env: {
      PATH: process.env['PATH'],
      HOME: join(root, 'home'),
      XDG_STATE_HOME: join(root, 'state'),
      LANG: 'C.UTF-8',
      NODE_COMPILE_CACHE: join(tmpdir(), 'squad-test-compile-cache'),
    },
    prelude: ':',
    redirect: '',
    as: undefined,
    settled: undefined,
    into: 'main',
    settings: {},
    script: [
      { ...plan([piece('one'), piece('two')]), steps: [paid, { answer: 'planned' }] },
      author('one', [paid, ...commits({ 'one.txt': FILES['one.txt'] })]),
      author('two', [paid, ...commits({ 'two.txt': FILES['two.txt'] })]),
      APPROVE_ALL,
    ],
    git: (...args) => git(place.repository, '-c', 'safe.directory=*', ...args),
    squad: async (args, redirect = '') => {
      const line = `${place.prelude}; exec "$@" ${redirect}`;
      return run(place, ['-c', line, 'sh', process.execPath, CLI_ENTRY, ...args]);
    },
    shell: (line, ...given) => {
      const as = given.length === 0 ? place.as : given[0];
      const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', line], {
        cwd: place.root,
        env: { PATH: process.env['PATH'], HOME: join(root, 'home') },
        encoding: 'utf8',
        ...as,
      });
      return { code: status, text: `${stdout}${stderr}` };
    },
  };
  return place;
}

/** Writes what squad reads, once the row has moved the checkout to its place, and gives everything to the user. */
function settle(place: Place): void {
  const { root, cwd, as } = place;
  writeFileSync(join(root, 'script.json'), JSON.stringify({ turns: place.script }));
  const settings = {
    version: 1,
    runtimes: { scripted: { config: { script: join(root, 'script.json') } } },
    ...place.settings,
  };
  if (existsSync(cwd)) {
    const top = spawnSync('git', ['rev-parse', '--show-toplevel'], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: root },
      encoding: 'utf8',
    });
    const folder = top.status === 0 && top.stdout.trim() !== '' ? top.stdout.trim() : cwd;
    tryWrite(join(folder, 'squad.yaml'), JSON.stringify(settings));
    tryWrite(join(cwd, 'objective.md'), objective());
  }
  if (as !== undefined) giveTo(root, as);
  place.settled?.();
}

/** Where a row makes the checkout read-only, squad does not get so far as to read it. */
function tryWrite(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch {
    // As said.
  }
}

export function giveTo(folder: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  chownSync(folder, uid, gid);
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folder, entry), uid, gid);
}

async function run({ cwd, env, as }: Place, args: readonly string[]): Promise<Ended> {
  const [user, command] = as?.group === undefined ? [as, ['/bin/sh']] : [undefined, withGroup(as, as.group)];
  const [program = '', ...before] = command;
  const child = spawn(program, [...before, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (said[name] += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  clearTimeout(timer);
  return { code, ...said };
}

function withGroup({ uid, gid }: User, group: number): string[] {
  return ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${gid}`, `--groups=${group}`, '/bin/sh'];
}

/** Whatever still runs there ends; then the folder goes, read-only or not. */
function close({ root, env }: Place): void {
  const turns = existsSync(root)
    ? readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /(^|\/)turns\/[^/]+$/.test(path))
    : [];
  killAll(turns.flatMap((path) => markedPids(path.slice(path.lastIndexOf('/') + 1))));
  spawnSync('chmod', ['-R', 'u+rwX', root]);
  // On another disk.
  const { XDG_STATE_HOME: state = root } = env;
  if (state.includes('/squad-other-')) rmSync(state, { recursive: true, force: true });
  rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

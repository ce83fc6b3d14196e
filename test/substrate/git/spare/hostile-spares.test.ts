// @module-tag all
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { spread, SPREAD } from '../../../support/lane.ts';
import { removeFolders } from '../bench.ts';
import { FILE_STEPS, setAttribute } from '../hostile-steps.ts';
import { expectFresh, FILES, openSpares, RUN, settle, tidyAll } from './spare-bench.ts';

afterEach(removeFolders);

/** Equal numbers for equal seeds, from 0 to `below`. */
type Pick = (below: number) => number;

function picks(seed: number): Pick {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e_37_79_b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

const NAMES = Object.keys(FILES);
const ODD = ['a\nb', 'ä', '.hidden', '-rf', 'x'.repeat(200), ' ', 'CON', '.GIT', 'git~1', '*'];

interface Hand {
  readonly folder: string;
  /** A file of the commit that is there, or was. */
  readonly file: string;
  readonly other: string;
  /** Beside the folder, where an agent could have put something. */
  readonly outside: string;
  readonly pick: Pick;
}

const OPS: Readonly<Record<string, (hand: Hand) => void | Promise<void>>> = {
  ...FILE_STEPS,
  folderAttributes: ({ file }) => setAttribute(dirname(file)),
  linkedFolder: ({ file, outside, pick }) => {
    const away = join(outside, `folder-${pick(1_000)}`);
    renameSync(dirname(file), away);
    symlinkSync(away, dirname(file));
  },
  fileForFolder: ({ file }) => {
    rmSync(dirname(file), { recursive: true });
    writeFileSync(dirname(file), 'a file now');
  },
  folderForFile: ({ file }) => {
    rmSync(file);
    mkdirSync(join(file, 'inner'), { recursive: true });
    writeFileSync(join(file, 'inner/x'), 'x');
  },
  mode: ({ file, pick }) => chmodSync(file, [0o755, 0o600, 0o4755, 0o777, 0o444][pick(5)] ?? 0o644),
  folderMode: ({ file, pick }) => chmodSync(dirname(file), [0o700, 0o1777, 0o2755, 0o500][pick(4)] ?? 0o755),
  times: ({ file, pick }) => utimesSync(file, pick(2_000_000_000), pick(2_000_000_000)),
  folderTimes: ({ file, pick }) => utimesSync(dirname(file), pick(2_000_000_000), pick(2_000_000_000)),
  ignored: ({ folder, pick }) => {
    mkdirSync(join(folder, 'node_modules', `m${pick(5)}`), { recursive: true });
    writeFileSync(join(folder, 'node_modules', 'index.js'), 'evil', { mode: 0o755 });
    writeFileSync(join(folder, `${pick(9)}.log`), 'evil');
  },
  untracked: ({ folder, pick }) => writeFileSync(join(folder, ODD[pick(7)] ?? 'x'), 'new'),
  deep: ({ folder }) =>
    void mkdirSync(join(folder, 'dist', ...Array.from({ length: 60 }, () => 'd')), { recursive: true }),
  emptyFolder: ({ file, pick }) => void mkdirSync(join(dirname(file), `empty-${pick(9)}`), { recursive: true }),
  pipe: ({ folder, pick }) => void execFileSync('mkfifo', [join(folder, `pipe-${pick(1_000_000)}.log`)]),
  socket: async ({ folder, pick }) => {
    const server = createServer().listen(join(folder, `s${pick(99)}.log`));
    await once(server, 'listening');
    const path = server.address();
    if (typeof path === 'string') linkSync(path, `${path}.log`);
    server.close();
  },
  hooks: ({ folder }) => {
    mkdirSync(join(folder, '.git/hooks'), { recursive: true });
    for (const name of ['post-checkout', 'post-index-change', 'fsmonitor-watchman', 'pre-commit']) {
      writeFileSync(join(folder, '.git/hooks', name), '#!/bin/sh\necho evil > evil.txt\n', { mode: 0o755 });
    }
  },
  settings: ({ folder }) =>
    appendFileSync(
      join(folder, '.git/config'),
      '[core]\n\tfsmonitor = ./evil\n\tautocrlf = true\n[filter "x"]\n\tsmudge = evil\n',
    ),
  info: ({ folder }) => {
    mkdirSync(join(folder, '.git/info'), { recursive: true });
    writeFileSync(join(folder, '.git/info/attributes'), '* text eol=crlf filter=x\n');
    writeFileSync(join(folder, '.git/info/exclude'), '*\n');
    writeFileSync(join(folder, '.git/info/sparse-checkout'), '/run.sh\n');
  },
  indexFlags: ({ folder, file }) => {
    const name = file.slice(folder.length + 1);
    execFileSync('git', ['update-index', '--assume-unchanged', '--skip-worktree', name], {
      cwd: folder,
      stdio: 'ignore',
    });
  },
  noIndex: ({ folder }) => rmSync(join(folder, '.git/index'), { force: true }),
  commit: ({ folder, file }) => {
    appendFileSync(file, 'committed\n');
    const options = ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid'];
    execFileSync('git', ['add', '-A'], { cwd: folder, stdio: 'ignore' });
    execFileSync('git', [...options, 'commit', '-q', '-m', 'work'], { cwd: folder, stdio: 'ignore' });
  },
  forgotten: ({ folder, file }) => {
    const options = ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid'];
    execFileSync('git', ['rm', '-q', '--cached', file.slice(folder.length + 1)], { cwd: folder, stdio: 'ignore' });
    execFileSync('git', [...options, 'commit', '-q', '-m', 'forgotten'], { cwd: folder, stdio: 'ignore' });
    appendFileSync(file, 'evil\n');
  },
  writesLater: ({ file, outside }) => {
    const script = 'sleep 0.2; echo late >> "$0"';
    spawn('/bin/sh', ['-c', script, file], { cwd: outside, detached: true, stdio: 'ignore' }).unref();
  },
};
const OP_NAMES = Object.keys(OPS);
const MOST_OPS = 5;

/** Does some of it. A step for which its file is gone changes nothing. */
async function act(folder: string, outside: string, seed: number): Promise<readonly string[]> {
  const pick = picks(seed);
  const done: string[] = [];
  for (let left = 1 + pick(MOST_OPS); left > 0; left -= 1) {
    const name = OP_NAMES[pick(OP_NAMES.length)] ?? '';
    const [file = '', other = ''] = [pick(NAMES.length), pick(NAMES.length)].map((at) => join(folder, NAMES[at] ?? ''));
    try {
      await OPS[name]?.({ folder, file, other, outside, pick });
      done.push(name);
    } catch {
      // An earlier step took its file away.
    }
  }
  return done;
}

const SEEDS = Array.from({ length: spread(6, 500, 10) }, (_, index) => 4_000 + index);

describe('a folder that a hostile task leaves', () => {
  it('is for the next task as a new one', { ...SPREAD, timeout: 900_000 }, async () => {
    for (const seed of SEEDS) {
      const bench = await openSpares();
      const folder = await bench.spare.addFolder({ run: RUN, task: 'one', commit: bench.report.head });
      await settle();
      const outside = join(bench.root, 'outside');
      mkdirSync(outside);
      const done = await act(folder.workspace.path, outside, seed);
      const answer = await bench.spare.removeFolder(folder, 'one-1');
      // What squad cannot read stays for a person to look at.
      if (answer.type === 'removed') expect(existsSync(folder.workspace.path), `${seed}: ${done.join()}`).toBe(false);
      await tidyAll(bench);
      await expectFresh(bench, 'two').catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${done.join()}`, { cause: error });
      });
      removeFolders();
    }
  });
});

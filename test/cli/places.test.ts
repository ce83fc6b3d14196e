// @module-tag all
import { bindState } from '../../src/substrate/system/files/state-place.ts';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { createRepository, git } from '../support/git.ts';
import { runInProcess } from '../support/in-process.ts';
import { some, SPREAD } from '../support/lane.ts';
import { roomForTest, shell } from './room.ts';

/** Arranges a place below `root`, where `repository` is a checkout with a commit. Returns the folder to give commands in. */
type Arrange = (root: string, repository: string) => string;

const config = (repository: string, text: string): void => appendFileSync(join(repository, '.git/config'), text);
const IS_ROOT = process.getuid?.() === 0;

/** What is wrong, what squad says, and the next step that it gives. */
const CAUSES: readonly (readonly [string, Arrange, RegExp, RegExp])[] = [
  ['no repository', (root) => folder(root, 'none'), /is not in a git checkout: fatal/, /git init && git add -A/],
  [
    'a bare one',
    (root) => (git(root, 'init', '-q', '--bare', 'bare.git'), join(root, 'bare.git')),
    /is a bare repository/,
    /git clone /,
  ],
  ['a git directory', (_, repository) => join(repository, '.git'), /is inside a git directory/, /in its checkout/],
  [
    'a folder in one',
    (_, repository) => join(repository, '.git/objects'),
    /is inside a git directory/,
    /in its checkout/,
  ],
  [
    'a line that is no setting',
    (_, it) => (config(it, '[core\n'), it),
    /cannot read its configuration.*bad config line/,
    /--show-origin/,
  ],
  [
    'a value that is no boolean',
    (_, it) => (config(it, '[core]\nbare = maybe\n'), it),
    /bad boolean config value/,
    /--show-origin/,
  ],
  [
    'a value that is no number',
    (_, it) => (config(it, '[core]\nbigFileThreshold = lots\n'), it),
    /bad numeric config value/,
    /--show-origin/,
  ],
  [
    'settings that are a folder',
    (_, it) => (rmSync(join(it, '.git/config')), mkdirSync(join(it, '.git/config')), it),
    /cannot read its configuration/,
    /--show-origin/,
  ],
  [
    'settings of the person that cannot be read',
    (root, it) => (writeFileSync(join(root, '.gitconfig'), '[core\n'), config(it, '[include]\npath = /none\n'), it),
    /bad config line \d in file .*\.gitconfig/,
    /--show-origin/,
  ],
  [
    'an extension that git does not know',
    (_, it) => (config(it, '[core]\nrepositoryFormatVersion = 1\n[extensions]\nnovel = 1\n'), it),
    /an extension that this git does not know: novel/,
    /Update git/,
  ],
  [
    'a newer format',
    (_, it) => (config(it, '[core]\nrepositoryFormatVersion = 99\n'), it),
    /a format that this git does not know/,
    /Update git/,
  ],
  [
    'a worktree whose repository moved',
    (root, it) => {
      git(it, 'worktree', 'add', '-q', '--detach', join(root, 'linked'));
      renameSync(it, join(root, 'elsewhere'));
      return join(root, 'linked');
    },
    /belongs to a repository that is not at .*\/worktrees\/linked any more/,
    /git worktree repair .*linked/,
  ],
  [
    'objects that are borrowed from a folder that is gone',
    (root, it) => {
      git(root, 'clone', '-q', '--shared', it, 'borrower');
      renameSync(it, join(root, 'elsewhere'));
      return join(root, 'borrower');
    },
    /borrows objects from .*, which is not there/,
    /Bring that folder back/,
  ],
  [
    'a checkout elsewhere',
    (root, it) => (config(it, `[core]\nworktree = ${folder(root, 'elsewhere')}\n`), it),
    /outside of its own checkout, because core\.worktree puts that at .*elsewhere/,
    /--unset core\.worktree/,
  ],
  [
    'core.bare in a checkout',
    (_, it) => (config(it, '[core]\nbare = true\n'), it),
    /core\.bare=true/,
    /config core\.bare false/,
  ],
  [
    'a HEAD that is none',
    (_, it) => (writeFileSync(join(it, '.git/HEAD'), 'none\n'), it),
    /\.git is no git directory that git can use/,
    /ref: refs\/heads\/main/,
  ],
  [
    'no objects',
    (_, it) => (rmSync(join(it, '.git/objects'), { recursive: true }), it),
    /\.git is no git directory that git can use/,
    /from a copy or a clone/,
  ],
  [
    'a commit that is gone',
    (_, it) => (emptyStore(it), it),
    /the commit [0-9a-f]{12} that HEAD of .* cannot be read/,
    /git fsck/,
  ],
  [
    'a detached HEAD at a commit that is not there',
    (_, it) => (writeFileSync(join(it, '.git/HEAD'), `${'1'.repeat(40)}\n`), it),
    /the commit 1{12} that HEAD/,
    /git fsck/,
  ],
  [
    'no commit yet',
    (root) => (git(root, 'init', '-q', 'fresh'), join(root, 'fresh')),
    /has no commit yet/,
    /add -A && git .* commit -m "first"/,
  ],
  [
    'a branch without a commit',
    (_, it) => (git(it, 'switch', '-q', '--orphan', 'new'), it),
    /the branch new of .* has no commit/,
    /switch main/,
  ],
  ['a folder that is gone', (root) => join(root, 'gone'), /the folder .*gone is gone/, /with `cd`/],
];

function folder(root: string, name: string): string {
  mkdirSync(join(root, name));
  return join(root, name);
}

function emptyStore(repository: string): void {
  const store = join(repository, '.git/objects');
  for (const name of readdirSync(store)) if (name.length === 2) rmSync(join(store, name), { recursive: true });
}

/** A room whose checkout is arranged, with the folder in which commands are given. */
function arranged(arrange: Arrange) {
  const { root, repository } = roomForTest();
  writeFileSync(join(repository, 'objective.md'), '# Objective: x\n');
  return { root, repository: arrange(root, repository) };
}

/** The commands that say where they are, with what a run takes. */
const COMMANDS = [
  ['run', 'objective.md', '--yes'],
  ['run', 'objective.md', '--dry-run'],
  ['plan', 'objective.md', '--yes'],
  ['merge'],
  ['init', '--yes'],
  ['resume'],
];

describe('a place where squad cannot work', () => {
  it.each(some(CAUSES, 0, 9))(
    '%s: one cause and one next step, from run and doctor',
    SPREAD,
    async (title, arrange, cause, next) => {
      const place = arranged(arrange);
      const run = await runInProcess(place, ['run', 'objective.md', '--yes']);
      const said = run.stderr.split('\n');
      expect(said[0]).toMatch(cause);
      expect(said[1]).toMatch(next);
      expect(run.code).toBe(78);
      if (title !== 'no repository' && !title.startsWith('no commit'))
        expect(run.stderr).not.toMatch(/git init|add -A/);
      const doctor = await runInProcess(place, ['doctor', '--json']);
      const checks = (doctor.lines[0]?.['checks'] ?? []) as { name: string; problems: { text: string }[] }[];
      const texts = checks
        .filter(({ name }) => name === 'repository')
        .flatMap(({ problems }) => problems.map(({ text }) => text));
      if (title === 'no repository') expect(texts).toEqual([]);
      else expect(texts.join('\n')).toMatch(cause);
    },
  );

  const some3 = CAUSES.filter(([title]) =>
    ['core.bare in a checkout', 'a HEAD that is none', 'a commit that is gone'].includes(title),
  );
  it.each(some(some3, 0, 1))(
    '%s: the same from every command that works there',
    SPREAD,
    async (_title, arrange, cause) => {
      const place = arranged(arrange);
      for (const command of COMMANDS) {
        const { stderr, code } = await runInProcess(place, command);
        // What needs no commit says that there is no run.
        if (code === 2) expect(stderr).toMatch(/no run here yet/);
        else expect([command[0], stderr]).toEqual([command[0], expect.stringMatching(cause)]);
      }
    },
  );

  it('does not advise to commit a home folder', async () => {
    const room = roomForTest();
    const { stderr, code } = await runInProcess({ root: room.root, repository: room.root }, ['run', 'x.md']);
    expect(code).toBe(78);
    expect(stderr).toMatch(/is not in a git checkout/);
    expect(stderr).not.toMatch(/git init|add -A/);
    git(room.root, 'init', '-q');
    expect((await runInProcess({ root: room.root, repository: room.root }, ['run', 'x.md'])).stderr).toMatch(
      /this is your home folder/,
    );
  });

  it.runIf(IS_ROOT)('names the owner of a checkout of another user (needs root)', async () => {
    const place = arranged((_, repository) => {
      for (const path of [repository, join(repository, '.git')]) chownSync(path, 1, 1);
      return repository;
    });
    const { stderr, code } = await runInProcess(place, ['status']);
    expect(code).toBe(78);
    expect(stderr).toMatch(/git does not trust .*: it belongs to (?:daemon|bin|the user with the id 1)\n.*git clone/);
  });

  it('says of a program that prints as git does not, that it is none', async () => {
    const { root, repository, run } = roomForTest();
    mkdirSync(join(root, 'bin'));
    writeFileSync(join(root, 'bin/git'), '#!/bin/sh\necho welcome\nexec /usr/bin/git "$@"\n', { mode: 0o755 });
    const ran = await run(['run', 'readme.md', '--yes'], { PATH: `${join(root, 'bin')}:${process.env['PATH']}` });
    expect(ran.stderr).toMatch(/bin\/git does not answer as git does: it printed "welcome/);
    expect([ran.code, repository]).toEqual([78, repository]);
  });
});

describe('variables of git', () => {
  it('that name another repository count for nothing, and a run says so', async () => {
    const { root, repository, run } = roomForTest();
    const other = createRepository(join(root, 'other'));
    const doctor = async (GIT_DIR: string) => (await run(['doctor'], { GIT_DIR })).stdout;
    expect(await doctor(join(other, '.git'))).toContain(
      `GIT_DIR=${join(other, '.git')} counts for nothing: squad works in ${repository}`,
    );
    expect(await doctor(join(repository, '.git'))).not.toContain('counts for nothing');
  });

  it('do not make a checkout, and are named where there is none', async () => {
    const { root, repository } = roomForTest();
    const env = { PATH: process.env['PATH'], HOME: root, GIT_DIR: join(repository, '.git'), GIT_WORK_TREE: root };
    const ran = spawnSync(process.execPath, [CLI_ENTRY, 'status'], { cwd: root, env, encoding: 'utf8' });
    expect(ran.stderr).toMatch(/does not use GIT_DIR=[^\n]*\nNext: Run squad in a clone of it/);
    expect(ran.stderr).not.toMatch(/git init|add -A/);
  });
});

describe('what a run needs of the repository, before it is recorded', () => {
  const refusals: [string, (repository: string) => void, RegExp, RegExp][] = [
    ['a branch squad', (it) => void git(it, 'branch', 'squad'), /a branch named `squad`/, /git branch -m squad/],
    [
      'a ref refs/squad',
      (it) => void git(it, 'update-ref', 'refs/squad', 'HEAD'),
      /a ref `refs\/squad`/,
      /git update-ref -d refs\/squad/,
    ],
  ];
  it.each(refusals)('refuses %s in the way', async (_title, arrange, cause, next) => {
    const place = arranged((_, repository) => (arrange(repository), repository));
    const { stderr, code } = await runInProcess(place, ['run', 'objective.md', '--dry-run']);
    expect(code).toBe(78);
    expect(stderr).toMatch(cause);
    expect(stderr).toMatch(next);
  });

  it.each([
    ['a branch below its own', 'refs/heads/squad/sample/deep'],
    ['a ref of its name', 'refs/squad/sample'],
  ])('takes another name past %s', async (_title, ref) => {
    const { inspectRepository } = await import('../../src/substrate/git/inspect-repository.ts');
    const { portsIn } = await import('../substrate/git/bench.ts');
    const { root, repository } = roomForTest();
    git(repository, 'update-ref', ref, 'HEAD');
    git(repository, 'update-ref', 'refs/squad/older/task-1', 'HEAD');
    expect((await inspectRepository(portsIn(root), repository)).runBranches).toEqual(['sample']);
  });

  const parts = ['.git', '.git/objects', '.git/refs/heads', '.git/objects/00'];
  it.for(some(parts, 0, 2))(
    'refuses %s without the right to write, and doctor says it too',
    SPREAD,
    async (name, { skip }) => {
      const { root, repository } = arranged((_, it) => it);
      mkdirSync(join(repository, '.git/objects/00'), { recursive: true });
      chmodSync(join(repository, name), 0o555);
      const line = (words: string) => `"${process.execPath}" "${CLI_ENTRY}" ${words}`;
      const run = asAnother(root, repository, line('run objective.md --dry-run'));
      if (run === undefined) return skip('root without setpriv can always write');
      expect(run.stderr).toMatch(
        new RegExp(String.raw`^squad: \S*${name.replaceAll('.', '\\.')}\S* cannot be written \(EACCES\)`),
      );
      expect(run.stderr).toMatch(/Next: .*git clone/);
      expect(run.status).toBe(78);
      expect(asAnother(root, repository, line('doctor'))?.stdout).toMatch(/cannot be written \(EACCES\)/);
    },
  );
});

it('says of a ledger’s path that is too long by how much, and makes nothing', () => {
  const { root } = roomForTest();
  const directory = join(root, 'a'.repeat(200), 'b'.repeat(200), 'c'.repeat(120));
  const open = () => openLedger(directory, { clock: createSystemClock() });
  expect(open).toThrow(/is \d+ bytes too long: SQLite opens/);
  expect(readdirSync(root)).not.toContain('a'.repeat(200));
});

it('does not take the state folder of another user for an empty place', async ({ skip }) => {
  const { root, repository } = arranged((_, it) => it);
  const state = join(root, 'theirs');
  const line = `SQUAD_STATE='${state}' "${process.execPath}" "${CLI_ENTRY}" status`;
  const run = asAnother(root, repository, line, () => {
    const directory = bindState(state, join(repository, '.git'), 'r').directory;
    mkdirSync(directory, { recursive: true });
    chmodSync(state, 0o700);
  });
  if (run === undefined || !IS_ROOT) return skip('only root can be two users, with setpriv');
  expect(run.stderr).toMatch(/theirs[^\n]*\(EACCES\b[^\n]*\nNext: /);
  expect(run.status).toBe(75);
});

it.for([
  ['a file', 'export XDG_STATE_HOME=/etc/passwd', /\/etc\/passwd is not a folder/],
  ['in no folder', 'export HOME=/dev/null; unset XDG_STATE_HOME', /\/dev\/null is not a folder/],
] as const)('says in one sentence that the state folder is %s', async ([, setting, cause]) => {
  const room = roomForTest();
  writeFileSync(join(room.repository, 'objective.md'), '# Objective: x\n');
  const run = await shell(room, `${setting}; squad run objective.md --dry-run`);
  expect(run.stderr).toMatch(cause);
  expect(run.stderr).toMatch(/\nNext: Correct that, or set XDG_STATE_HOME/);
  expect(run.code).toBe(78);
});

/** A shell line as a user who is not root, to whom the room belongs; undefined: this machine cannot do that. */
function asAnother(root: string, cwd: string, line: string, keep?: () => void) {
  const env = { PATH: process.env['PATH'], HOME: root };
  if (!IS_ROOT) return spawnSync('/bin/sh', ['-c', line], { cwd, env, encoding: 'utf8' });
  spawnSync('chown', ['-R', '61001:61001', root]);
  keep?.();
  const ran = spawnSync('setpriv', ['--reuid=61001', '--regid=61001', '--clear-groups', '/bin/sh', '-c', line], {
    cwd,
    env,
    encoding: 'utf8',
  });
  return ran.error === undefined ? ran : undefined;
}

describe('the branch of a checkout', () => {
  it.each(['refs/tags/HEAD', 'refs/heads/HEAD', 'refs/HEAD', 'refs/tags/main'])('is known beside %s', async (ref) => {
    const { openRepository } = await import('../../src/substrate/git/repository.ts');
    const { portsIn } = await import('../substrate/git/bench.ts');
    const { root, repository } = roomForTest();
    git(repository, 'update-ref', ref, 'HEAD');
    expect((await openRepository(portsIn(root), repository)).branch).toBe('main');
  });

  it('is named in the advice only if it is there, and a run says early that it needs one', async () => {
    const place = arranged((_, repository) => {
      git(repository, 'branch', '-m', 'main', 'trunk');
      git(repository, 'switch', '-q', '--detach');
      return repository;
    });
    const doctor = await runInProcess(place, ['doctor']);
    expect(doctor.stdout).toMatch(/HEAD is detached\)[^]*`squad merge` needs a branch[^]*git switch trunk/);
    git(place.repository, 'branch', '-D', 'trunk');
    expect((await runInProcess(place, ['doctor'])).stdout).toContain('git switch -c main');
  });
});

// @module-tag all
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TaskFolder, Workspaces } from '../../src/substrate/ports/workspaces.ts';
import { commitIn, openBench, removeFolders, type GitBench } from '../substrate/git/bench.ts';
import { some, SPREAD, spread } from '../support/lane.ts';
import { snapshot } from '../support/snapshot.ts';
import { program } from './poison.ts';

afterEach(removeFolders);

/** What an agent leaves of its repository. `$U`: the user's `.git`; `$R`: the run's repository; `$P`: a program. */
const LEFT: readonly (readonly [string, string])[] = [
  ['a link to the user’s .git', 'rm -rf .git; ln -s $U .git'],
  ['a link to the run’s repository', 'rm -rf .git; ln -s $R .git'],
  ['a file that names the user’s .git', 'rm -rf .git; echo "gitdir: $U" > .git'],
  ['a FIFO', 'rm -rf .git; mkfifo .git'],
  ['nothing', 'rm -rf .git'],
  ['a HEAD that is a FIFO', 'rm .git/HEAD; mkfifo .git/HEAD'],
  ['a HEAD that never ends', 'ln -sf /dev/zero .git/HEAD'],
  ['a HEAD that is a link to the user’s', 'ln -sf $U/HEAD .git/HEAD'],
  ['a HEAD that names a file outside', 'echo "ref: refs/../../../../outside/commit" > .git/HEAD'],
  ['a HEAD that names a branch that is a FIFO', 'git checkout -q -b a; rm .git/refs/heads/a; mkfifo .git/refs/heads/a'],
  ['a HEAD with a commit that does not exist', 'echo 1234567890123456789012345678901234567890 > .git/HEAD'],
  [
    'refs that are links to the user’s',
    'rm -rf .git/refs; ln -s $U/refs .git/refs; echo "ref: refs/heads/main" > .git/HEAD',
  ],
  [
    'ten thousand refs',
    'h=$(git rev-parse HEAD); for i in $(seq 10000); do echo $h refs/heads/b$i; done > .git/packed-refs',
  ],
  ['objects that are the user’s', 'rm -rf .git/objects; ln -s $U/objects .git/objects'],
  [
    'alternates that name a FIFO and themselves',
    'mkfifo .git/f; (echo "$PWD/.git/f"; echo "$PWD/.git/objects") > .git/objects/info/alternates',
  ],
  [
    'alternates that name an object store of its own',
    'git clone -q --bare . .git/other; echo "$PWD/.git/other/objects" > .git/objects/info/alternates',
  ],
  ['no alternates', 'rm .git/objects/info/alternates'],
  [
    'damaged objects',
    'find .git/objects -type f -name "??????*" -exec chmod u+w {} + -exec sh -c "echo x > \\$0" {} \\;',
  ],
  ['objects that are FIFOs', 'for f in $(find .git/objects -type f -path "*/??/*"); do rm -f $f; mkfifo $f; done'],
  ['a common directory that is the user’s', 'echo $U > .git/commondir'],
  ['an index that is a FIFO', 'rm .git/index; mkfifo .git/index'],
  ['an index that is garbage', 'head -c 50000 /dev/urandom > .git/index'],
  [
    'a split index of another repository',
    'git update-index --split-index; rm .git/sharedindex*; ln -s $U/index .git/sharedindex.0000000000000000000000000000000000000000',
  ],
  [
    'a config with every program',
    'for k in core.fsmonitor core.sshCommand core.pager core.askPass diff.external gpg.program credential.helper uploadpack.packObjectsHook filter.evil.clean filter.evil.smudge filter.evil.process merge.evil.driver diff.evil.textconv alias.fetch alias.upload-pack gc.recentObjectsHook core.alternateRefsCommand; do git config $k "$P"; done; git config core.hooksPath "$(dirname $P)"; echo "* filter=evil diff=evil merge=evil" > .git/info/attributes; cp .git/info/attributes .gitattributes',
  ],
  ['a config that works on the user’s folder', 'git config core.folder "$(dirname $U)"; git config core.bare false'],
  ['a config that includes a FIFO', 'mkfifo f; git config include.path "$PWD/f"'],
  [
    'a config of a partial clone',
    'git config extensions.partialClone x; git config remote.x.url "ext::$P"; git config remote.x.promisor true; git config core.repositoryFormatVersion 1; rm -rf .git/objects/??',
  ],
  [
    'hooks',
    'mkdir -p .git/hooks; for h in post-checkout post-index-change reference-transaction pre-auto-gc post-commit pre-commit update fsmonitor-watchman; do cp $P .git/hooks/$h; done',
  ],
  [
    'replace refs and grafts',
    'git replace --graft HEAD; echo $(git rev-parse HEAD) > .git/info/grafts; echo $(git rev-parse HEAD) > .git/shallow',
  ],
  [
    'a lock on everything',
    'touch .git/index.lock .git/HEAD.lock .git/config.lock .git/packed-refs.lock .git/shallow.lock',
  ],
  ['no permission', 'chmod -R a-rwx .git'],
];

/** Everything that the engine asks of a folder between two turns and at its end. */
async function askEverything(workspaces: Workspaces, given: TaskFolder, base: string): Promise<void> {
  let folder = given;
  const steps: (() => Promise<unknown>)[] = [
    () => workspaces.snapshot(folder),
    () => workspaces.rescue(folder, 'one-1'),
    async () => (folder = await workspaces.addFolder({ run: 'r', task: 'one', commit: base })),
    () => workspaces.standOn(folder, base, 'staged'),
    () => workspaces.moveFolder(folder, base, 'one-2'),
    () => workspaces.resetFolder(folder, { commit: base, attempt: 'one-3', rescueAs: 'one-left' }),
    () => workspaces.removeFolder(folder, 'one-4'),
  ];
  for (const step of steps) await step();
}

interface Room {
  readonly bench: GitBench;
  readonly folder: TaskFolder;
  readonly base: string;
  /** The user's repository but for objects and refs of squad's, and all else that squad must not touch. */
  readonly untouched: () => unknown;
  readonly marks: () => readonly string[];
  readonly shell: (line: string) => void;
}

async function openRoom(): Promise<Room> {
  const bench = await openBench({ 'a.txt': 'one\n' });
  const { root, repository, workspaces, report } = bench;
  const base = report.head;
  await workspaces.createRunBranch('r', base);
  const folder = await workspaces.addFolder({ run: 'r', task: 'one', commit: base });
  commitIn(folder, { 'a.txt': 'two\n', 'b.txt': 'new\n' });
  writeFileSync(join(folder.workspace.path, 'c.txt'), 'left\n');
  mkdirSync(join(root, 'outside'));
  writeFileSync(join(root, 'outside', 'commit'), `${base}\n`);
  const user = join(repository, '.git');
  const environment = {
    ...{ PATH: process.env['PATH'], HOME: root, U: user, P: program(join(root, 'programs'), 'planted', root) },
    R: join(folder.workspace.path, '..', '.squad', 'run.git'),
  };
  const ours = ['objects', 'refs/squad', 'refs/heads/squad', 'logs/refs/squad', 'logs/refs/heads/squad'];
  return {
    bench,
    folder,
    base,
    untouched: () => [
      snapshot(
        repository,
        ours.map((name) => join(user, name)),
      ),
      snapshot(join(root, 'outside')),
    ],
    marks: () => readdirSync(root).filter((name) => name.startsWith('mark-')),
    shell: (line) => {
      execFileSync('/bin/sh', ['-c', line], { cwd: folder.workspace.path, env: environment, stdio: 'ignore' });
    },
  };
}

describe('S6: what an agent leaves of its repository', { ...SPREAD, timeout: 120_000 }, () => {
  it.each(some(LEFT, 0, 10))(
    'S6: %s runs nothing, hangs nothing and changes nothing of the user’s',
    async (_left, line) => {
      const { bench, folder, base, untouched, marks, shell } = await openRoom();
      const before = untouched();
      shell(line);
      await askEverything(bench.workspaces, folder, base);
      expect(marks()).toEqual([]);
      expect(untouched()).toEqual(before);
      await bench.workspaces.close();
    },
  );

  it('S6: what is planted does run for a git that works in the folder, or else this could not fail', async () => {
    const { bench, marks, shell } = await openRoom();
    const programs = LEFT.find(([left]) => left === 'a config with every program')?.[1] ?? '';
    shell(`${programs}; git status; git add -A; git commit --allow-empty -m x; true`);
    expect(marks()).not.toEqual([]);
    await bench.workspaces.close();
  });

  it('S6: replaced by a link, a FIFO and a folder in turn while the engine looks', async () => {
    const { bench, folder, base, untouched, marks } = await openRoom();
    const { workspaces, repository } = bench;
    const before = untouched();
    const { path } = folder.workspace;
    const swap = `cp -a .git ../kept; while :; do rm -rf .git; ln -s ${repository}/.git .git; rm -rf .git; mkfifo .git
      rm -rf .git; cp -a ../kept .git; rm -f .git/HEAD; mkfifo .git/HEAD; rm -rf .git/refs; ln -s ${repository}/.git/refs .git/refs; done`;
    const agent = spawn('/bin/sh', ['-c', swap], { cwd: path, stdio: 'ignore' });
    try {
      for (let round = 0; round < spread(5, 40); round += 1) {
        await workspaces.snapshot(folder);
        await workspaces.rescue(folder, `one-${round}`);
        await workspaces.standOn(folder, base, 'follows').catch(() => undefined);
      }
    } finally {
      agent.kill('SIGKILL');
    }
    expect(marks()).toEqual([]);
    expect(untouched()).toEqual(before);
    await workspaces.close();
  });
});

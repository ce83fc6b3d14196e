import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createGitWorkspaces } from '../src/substrate/git/git-workspaces.ts';
import { inspectRepository } from '../src/substrate/git/inspect-repository.ts';
import { portsIn } from '../test/substrate/git/bench.ts';
import { median, milliseconds, round, rowOf, type Bench } from './shared/row.ts';

/** Of the newest commit. */
const FILES = Number(process.env['SQUAD_PLACES_FILES'] ?? 5000);
/** Of all commits, as git stores them: random bytes, which nothing compresses. */
const HISTORY_MIB = Number(process.env['SQUAD_PLACES_MIB'] ?? 100);
const TASKS = 10;
const FILE_BYTES = 4096;
const FOLDERS = 500;
const run = promisify(execFile);

/** The folders of ten tasks, and ten checkouts by git alone. */
export const places: Bench = {
  name: 'places',
  run: async (folder) => {
    const repository = join(folder, 'repository');
    await createLarge(repository);
    const ports = portsIn(folder);
    const report = await inspectRepository(ports, repository);
    const workspaces = createGitWorkspaces(ports, report);
    await workspaces.createRunBranch('run', report.head);
    const checkouts = join(folder, 'checkouts');
    mkdirSync(checkouts);
    const squad: number[] = [];
    const bare: number[] = [];
    for (let index = 0; index < TASKS; index += 1) {
      const place = { run: 'run', task: `task-${index}`, commit: report.head };
      squad.push(await milliseconds(async () => workspaces.addFolder(place)));
      const add = ['worktree', 'add', '--quiet', '--detach', join(checkouts, `${index}`), report.head];
      bare.push(await milliseconds(async () => run('git', add, { cwd: repository })));
    }

    const objects = bytesOf(join(repository, '.git/objects'));
    await workspaces.close();
    const entries = join(repository, '.git/worktrees');
    const disk = [bytesOf(ports.stateDirectory), bytesOf(checkouts) + bytesOf(entries)].map((bytes) => bytes / 2 ** 20);
    const [ours = NaN, theirs = NaN] = disk;
    const size = `${FILES} files, ${round(objects / 2 ** 20)} MiB of objects`;
    return [
      rowOf('a task’s folder, over `git worktree add`, p50', 'ms', median(squad), median(bare), {
        target: { of: 'ratio', most: 1.3 },
        note: `${size}; ${TASKS} of each in turns; slowest ${round(Math.max(...squad))} and ${round(Math.max(...bare))} ms`,
      }),
      rowOf('disk of ten tasks, over ten worktrees', 'MiB', ours, theirs, { target: { of: 'ratio', most: 1.05 } }),
    ];
  },
};

/** A repository with its files in the newest commit, and older contents of them below. */
async function createLarge(repository: string): Promise<void> {
  await run('git', ['init', '--quiet', '--initial-branch=main', repository]);
  const options = ['--quiet', '--done', '--date-format=raw'];
  const importing = spawn('git', ['-c', 'core.compression=0', 'fast-import', ...options], {
    cwd: repository,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const write = async (text: string | Buffer): Promise<void> => {
    if (!importing.stdin.write(text)) await once(importing.stdin, 'drain');
  };
  const commit = async (files: number): Promise<void> => {
    await write('commit refs/heads/main\ncommitter a <a@example.invalid> 1700000000 +0000\ndata 1\nx\n');
    for (let index = 0; index < files; index += 1) {
      await write(`M 100644 inline folder-${index % FOLDERS}/file-${index}\ndata ${FILE_BYTES}\n`);
      await write(Buffer.concat([randomBytes(FILE_BYTES), Buffer.from('\n')]));
    }
  };
  const rest = Math.max(0, HISTORY_MIB * 2 ** 20 - FILES * FILE_BYTES);
  for (let left = rest; left > 0; left -= 1000 * FILE_BYTES) await commit(Math.min(1000, Math.ceil(left / FILE_BYTES)));
  await commit(FILES);
  importing.stdin.end('done\n');
  const [code] = (await once(importing, 'close')) as [number | null];
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  for (const [key, value] of [
    ['user.name', 'a'],
    ['user.email', 'a@example.invalid'],
  ] as const)
    await run('git', ['config', key, value], { cwd: repository });
  await run('git', ['reset', '--quiet', '--hard', 'main'], { cwd: repository });
}

/** On disk, each inode once. */
function bytesOf(path: string, seen = new Set<number>()): number {
  const found = lstatSync(path);
  if (seen.has(found.ino)) return 0;
  seen.add(found.ino);
  const inside = found.isDirectory() ? readdirSync(path).map((name) => bytesOf(join(path, name), seen)) : [];
  return inside.reduce((sum, bytes) => sum + bytes, found.blocks * 512);
}

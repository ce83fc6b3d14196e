import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Piece, ScriptedRoom } from './scripted-room.ts';

const PLAYER = fileURLToPath(new URL('../../src/runtimes/scripted/player.mjs', import.meta.url));
const run = promisify(execFile);

/**
 * The same chains by a bare loop: worktree, agent, merge, and nothing proven, recorded or kept. Seconds; what no engine that
 * runs these agents in worktrees of this machine can be better than.
 */
export async function bareChains(
  room: ScriptedRoom,
  folder: string,
  chains: readonly (readonly Piece[])[],
  parallel: number,
): Promise<number> {
  const git = async (cwd: string, ...args: string[]): Promise<string> =>
    (await run('git', args, { cwd })).stdout.trim();
  const branch = 'refs/heads/bare';
  await git(room.repository, 'update-ref', branch, 'HEAD');
  let merging: Promise<unknown> = Promise.resolve();
  const merge = async (commit: string): Promise<void> => {
    const head = await git(room.repository, 'rev-parse', branch);
    const tree = await git(room.repository, 'merge-tree', '--write-tree', head, commit);
    const merged = await git(room.repository, 'commit-tree', tree, '-p', head, '-p', commit, '-m', 'merge');
    await git(room.repository, 'update-ref', branch, merged);
  };
  const build = async ({ id }: Piece): Promise<void> => {
    const path = join(folder, 'bare', id);
    const adding = merging.then(async () =>
      git(room.repository, 'worktree', 'add', '--quiet', '--detach', path, branch),
    );
    merging = adding;
    await adding;
    const play = { script: join(folder, 'script.json'), home: join(folder, 'bare-home'), session: id, resume: false };
    const playing = run(process.execPath, [PLAYER, JSON.stringify(play)], { cwd: path });
    playing.child.stdin?.end(`# Task ${id}:`);
    await playing;
    const commit = await git(path, 'rev-parse', 'HEAD');
    merging = merging.then(async () => merge(commit));
    await merging;
  };
  const queue = [...chains];
  const from = performance.now();
  const works = Array.from({ length: parallel }, async () => {
    for (let chain = queue.shift(); chain !== undefined; chain = queue.shift()) {
      for (const piece of chain) await build(piece);
    }
  });
  await Promise.all(works);
  return (performance.now() - from) / 1000;
}

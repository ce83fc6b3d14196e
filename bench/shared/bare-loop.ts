import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { milliseconds } from './row.ts';
import type { Piece, ScriptedRoom } from './scripted-room.ts';

const PLAYER = fileURLToPath(new URL('../../src/runtimes/scripted/player.mjs', import.meta.url));
const BRANCH = 'refs/heads/bare';
const run = promisify(execFile);

/** The same agents, worktrees and merges with nothing proven, recorded or kept: no engine on this machine can do better. */
export interface BareLoop {
  /** Seconds. */
  play(chains: readonly (readonly Piece[])[], parallel: number): Promise<number>;
  /** Milliseconds of what lies between two pieces: the merge of a commit and the next worktree. */
  gap(): Promise<number>;
  /** Seconds to remove all its worktrees. */
  remove(): Promise<number>;
}

export async function openBareLoop({ repository }: ScriptedRoom, folder: string): Promise<BareLoop> {
  const git = async (cwd: string, ...args: string[]): Promise<string> =>
    (await run('git', args, { cwd })).stdout.trim();
  const places: string[] = [];
  await git(repository, 'update-ref', BRANCH, 'HEAD');
  const place = async (id: string): Promise<string> => {
    const path = join(folder, 'bare', id);
    places.push(path);
    await git(repository, 'worktree', 'add', '--quiet', '--detach', path, BRANCH);
    return path;
  };
  const merge = async (commit: string): Promise<void> => {
    const head = await git(repository, 'rev-parse', BRANCH);
    const tree = await git(repository, 'merge-tree', '--write-tree', head, commit);
    const merged = await git(repository, 'commit-tree', tree, '-p', head, '-p', commit, '-m', 'merge');
    await git(repository, 'update-ref', BRANCH, merged);
  };
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other, as git's locks want it. */
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    const working = last.then(work);
    last = working;
    return working;
  };
  const build = async ({ id }: Piece): Promise<void> => {
    const path = await inTurn(async () => place(id));
    const play = { script: join(folder, 'script.json'), home: join(folder, 'bare-home'), session: id, resume: false };
    const playing = run(process.execPath, [PLAYER, JSON.stringify(play)], { cwd: path });
    playing.child.stdin?.end(`# Task ${id}:`);
    await playing;
    const commit = await git(path, 'rev-parse', 'HEAD');
    await inTurn(async () => merge(commit));
  };
  return {
    play: async (chains, parallel) => {
      const queue = [...chains];
      const works = Array.from({ length: parallel }, async () => {
        for (let chain = queue.shift(); chain !== undefined; chain = queue.shift()) {
          for (const piece of chain) await build(piece);
        }
      });
      return (await milliseconds(async () => Promise.all(works))) / 1000;
    },
    gap: async () =>
      milliseconds(async () => {
        await merge(await git(repository, 'rev-parse', 'HEAD'));
        await place(`gap-${places.length}`);
      }),
    remove: async () =>
      (await milliseconds(async () => {
        for (const path of places.splice(0)) await rm(path, { recursive: true });
        await git(repository, 'worktree', 'prune');
      })) / 1000,
  };
}

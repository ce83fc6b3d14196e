import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Room } from './room.ts';
import { PIECES, type Tool } from './tool.ts';

const TASKS = 'tasks.yaml';

/** Its README: a list of tasks in one parallel group, `--parallel`, which merges by itself; retries as they are by default. */
export function ralphy(version: string, folder: string): Tool {
  const run = [process.execPath, join(folder, 'node_modules', 'ralphy-cli', 'bin.js'), '--parallel', '--yaml', TASKS];
  const build = (piece: string): string => `Focus only on implementing: Piece ${piece}: `;
  return {
    ...{ name: 'ralphy', version, commitsItself: false, run },
    prompts: { build: { left: build('left'), right: build('right') }, conflict: 'onflict' },
    own: () => [],
    verdict: () => ({}),
    prepare: ({ repository }, { name }) => {
      const tasks = PIECES.map((piece) => ({
        title: `Piece ${piece}: write ${name === 'same-lines' ? 'shared' : piece}.txt`,
        ...{ completed: false, parallel_group: 1 },
      }));
      writeFileSync(join(repository, TASKS), stringify({ tasks }));
    },
    goOn: () => ({ words: 'the same command again', commands: [run] }),
    deliver: () => [],
    kill: { in: 'run', merge: 2 },
    branches: () => ['main'],
    claim: (room, output, code) => {
      const [completed, failed] = ['Completed', 'Failed'].map(
        (word) => new RegExp(`${word}: +(\\d+)`).exec(output)?.[1],
      );
      const open = openTasks(room);
      const words =
        completed === undefined
          ? (output.trim().split('\n').at(-1) ?? '')
          : `Completed: ${completed}, Failed: ${failed}`;
      return Promise.resolve({
        done: code === 0 && open === 0 && (failed === undefined || failed === '0'),
        words: `${words}; ${PIECES.length - open} of ${PIECES.length} tasks marked completed`,
      });
    },
    lacks: {
      'cost-cap': 'no limit in money',
      'never-agrees': 'no review',
      'silent-server': 'no limit for silence',
    },
  };
}

function openTasks({ repository }: Room): number {
  const { tasks } = parse(readFileSync(join(repository, TASKS), 'utf8')) as { tasks: { completed: boolean }[] };
  return tasks.filter(({ completed }) => !completed).length;
}

import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { median, milliseconds, rowOf, type Bench } from './shared/row.ts';
import { openRoom, type ScriptedRoom } from './shared/scripted-room.ts';
import { attemptsOf } from './shared/stored-events.ts';

const RUNS = Number(process.env['SQUAD_MANY_RUNS'] ?? 200);
const TRIES = 5;

/** What commands take after two hundred runs of one repository, beside what they took after one; half of the runs are merged. */
export const many: Bench = {
  name: 'many',
  run: async (folder) => {
    const room = openRoom(folder, SETTINGS, TURNS);
    await startOf(room, 0);
    const few = await measure(room, 1);
    for (let index = TRIES + 1; index < RUNS; index += 1) {
      await startOf(room, index);
      if (index % 2 === 0) must(room, 'merge', nameOf(index));
    }
    const now = await measure(room, RUNS);
    return (['runs', 'status', 'start', 'git status'] as const).map((what) =>
      rowOf(`${what} after ${RUNS} runs, beside after one`, 'ms', now[what], few[what], {
        target: { of: 'ratio', most: 1.2 },
        ...(what === 'runs' ? { note: `${few.left}; then ${now.left}` } : {}),
      }),
    );
  },
};

const SETTINGS = {
  agents: [
    { name: 'planner', role: 'planner', runtime: 'scripted', access: 'read-only' },
    { name: 'builder', role: 'builder', runtime: 'scripted' },
  ],
  // An older build refuses it.
  ...(process.env['SQUAD_BENCH_CLI'] === undefined ? { keep: { output: '0d', refs: '0d' } } : {}),
};

const TURNS = [
  {
    when: 'Split this objective',
    steps: [{ answer: 'planned' }],
    structured: {
      summary: 'as planned',
      tasks: ['one', 'two', 'three'].map((id) => {
        return {
          id,
          title: `Make ${id}`,
          role: 'builder',
          needs: [],
          brief: `Write ${id}.`,
          acceptance: ['it is there'],
        };
      }),
    },
  },
  ...['one', 'two', 'three'].map((id) => ({
    when: `# Task ${id}:`,
    steps: [
      { run: ['sh', '-c', `date +%s%N > ${id}.txt`] },
      { run: ['git', 'add', '--all'] },
      { run: ['git', 'commit', '--quiet', '--message', `Make ${id}`] },
      { answer: 'done' },
    ],
  })),
];

function nameOf(index: number): string {
  return `run-${index}`;
}

function must(room: ScriptedRoom, ...args: string[]): number {
  const { ms, code, stderr } = room.command(...args);
  if (code !== 0) throw new Error(`squad ${args.join(' ')} ended with ${String(code)}: ${stderr}`);
  return ms;
}

/** From the start of the command until the ledger has the first agent's process. */
async function startOf(room: ScriptedRoom, index: number): Promise<number> {
  const from = Date.now();
  must(room, 'run', 'objective.md', '--yes', '--plain', '--name', nameOf(index));
  const spawned = attemptsOf(room.events(), 'attempt-spawned').map(({ at }) => at);
  return Math.min(...spawned.filter((at) => at >= from)) - from;
}

/** `runs`: how many there are. */
async function measure(room: ScriptedRoom, runs: number) {
  const times: Record<'runs' | 'status' | 'start' | 'git status', number[]> = {
    runs: [],
    status: [],
    start: [],
    'git status': [],
  };
  const left = leftIn(room);
  for (let index = 0; index < TRIES; index += 1) {
    times.runs.push(must(room, 'runs'));
    times.status.push(must(room, 'status'));
    times['git status'].push(await milliseconds(() => git(room, 'status', '--short')));
  }
  for (let index = 0; index < TRIES; index += 1) times.start.push(await startOf(room, runs + index));
  return {
    left,
    runs: median(times.runs),
    status: median(times.status),
    start: median(times.start),
    'git status': median(times['git status']),
  };
}

function leftIn(room: ScriptedRoom): string {
  const refs = git(room, 'for-each-ref', '--format=%(refname)')
    .split('\n')
    .filter((ref) => /^refs\/(heads\/)?squad\//.test(ref));
  const paths = readdirSync(room.state(), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const bytes = paths.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return `${refs.length} refs, ${(bytes / 1e6).toFixed(1)} MB of state, ${readdirSync(join(room.state(), 'turns')).length} turns`;
}

function git(room: ScriptedRoom, ...args: string[]): string {
  return spawnSync('git', args, { cwd: room.repository, encoding: 'utf8' }).stdout;
}

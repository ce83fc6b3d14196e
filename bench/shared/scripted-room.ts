import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { readEvents, type StoredEvent } from './stored-events.ts';
import { stateOf } from '../../test/support/state.ts';

/** The command line that is measured: this checkout's build, or the launcher of another one. */
export const LAUNCHER =
  process.env['SQUAD_BENCH_CLI'] ?? fileURLToPath(new URL('../../bin/squad.cjs', import.meta.url));

export interface Piece {
  readonly id: string;
  readonly needs: readonly string[];
}

export interface ScriptedRoom {
  readonly repository: string;
  /** The built command line on this repository's objective, as its user would start it. */
  startRun(): ChildProcess;
  /** The same in a terminal of 120 columns and 40 rows, with these options. `pipe`: somebody reads what it shows. */
  startAtTerminal(options: readonly string[], shown?: 'ignore' | 'pipe'): ChildProcess;
  /** Any command of it in this repository, until it ends. */
  command(...args: string[]): { readonly ms: number; readonly code: number | null; readonly stderr: string };
  /** The folder of its ledger. */
  state(): string;
  /** What the ledger holds; nothing before there is one. */
  events(): readonly StoredEvent[];
}

interface RoomPlan extends RoomPlace {
  readonly pieces: readonly Piece[];
  readonly turnMs: number;
  readonly parallel: number;
  /** Further files of the repository, with 1,000 commits. */
  readonly files?: number;
  /** Steps of each piece's turn before it sleeps. */
  readonly first?: readonly object[];
}

interface RoomPlace {
  /** Another folder than the room's own for what squad keeps of one run for the next, such as compiled code. */
  readonly state?: string;
  /** The PATH of squad and its agents. */
  readonly path?: string | undefined;
  readonly files?: number;
}

/**
 * A repository with an objective, a planner and a builder, both scripted: real processes in real folders. The plan is `pieces`;
 * each is one turn that sleeps, writes one file and commits it. Uses no source of squad, so that it fits other builds.
 */
export function openScriptedRoom(folder: string, plan: RoomPlan): ScriptedRoom {
  const settings = {
    agents: [
      { name: 'planner', role: 'planner', runtime: 'scripted', access: 'read-only' },
      { name: 'builder', role: 'builder', runtime: 'scripted' },
    ],
    limits: { parallel: plan.parallel },
  };
  const turns = [planTurn(plan.pieces), ...plan.pieces.map(pieceTurn(plan.turnMs, plan.first))];
  return openRoom(folder, settings, turns, plan);
}

/** The same with any settings and any turns of the scripted agents. */
export function openRoom(
  folder: string,
  settings: object,
  turns: readonly object[],
  plan: RoomPlace = {},
): ScriptedRoom {
  const repository = join(folder, 'repository');
  const script = join(folder, 'script.json');
  mkdirSync(folder, { recursive: true });
  writeFileSync(script, JSON.stringify({ turns }));
  createRepository(repository, plan.files ?? 0, {
    'readme.md': '# bench\n',
    'objective.md': '# Bench\n\n## Goals\n- Every piece is there\n\n## Success criteria\n- All of it is committed\n',
    'squad.yaml': stringify({ version: 1, ...settings, runtimes: { scripted: { config: { script } } } }),
  });
  const env = {
    PATH: plan.path ?? process.env['PATH'],
    HOME: folder,
    XDG_STATE_HOME: plan.state ?? join(folder, 'state'),
  };
  return {
    repository,
    startRun: () =>
      spawn(process.execPath, [LAUNCHER, 'run', 'objective.md', '--yes', '--json'], {
        cwd: repository,
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    startAtTerminal: (options, shown = 'ignore') => {
      const line = [process.execPath, LAUNCHER, 'run', 'objective.md', '--yes', ...options].join(' ');
      const terminal = `stty cols 120 rows 40; exec ${line}`;
      return spawn('script', ['-qefc', terminal, '/dev/null'], {
        cwd: repository,
        env: { ...env, TERM: 'xterm-256color', SHELL: '/bin/sh' },
        stdio: ['pipe', shown, 'inherit'],
      });
    },
    command: (...args) => {
      const from = performance.now();
      const { status, stderr } = spawnSync(process.execPath, [LAUNCHER, ...args], {
        cwd: repository,
        env,
        encoding: 'utf8',
      });
      return { ms: performance.now() - from, code: status, stderr };
    },
    state: () => stateOf(repository, plan.state),
    events: () => readEvents(join(stateOf(repository, plan.state), 'squad.db')),
  };
}

/** Resolves when it has ended by itself; rejects unless the run was done. */
export async function ended(child: ChildProcess): Promise<void> {
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`squad run ended with ${String(code)}`);
}

/** Each piece needs the one before. */
export function chainOf(count: number, name = 'step'): Piece[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${name}-${index + 1}`,
    needs: index === 0 ? [] : [`${name}-${index}`],
  }));
}

const COMMITS = 1_000;

/** The same in each bench: files of 1 to 6 kB in folders of twelve, each commit after the first changes one. */
function importFiles(path: string, count: number): void {
  const named = (index: number): string => `packages/p${index % 40}/src/f${Math.floor(index / 480)}/file-${index}.ts`;
  const text = (index: number, edition: number): string =>
    `export const part${index} = ${edition};\n`.repeat(30 + ((index * 37) % 150));
  const commits = Array.from({ length: COMMITS }, (_, edition) => {
    const changed = edition === 0 ? Array.from({ length: count }, (_unused, index) => index) : [(edition * 7) % count];
    const blobs = changed.map((index) => {
      const body = text(index, edition);
      return `M 100644 inline ${named(index)}\ndata ${body.length}\n${body}\n`;
    });
    const head = `commit refs/heads/main\ncommitter bench <bench@squad.invalid> ${1_700_000_000 + edition} +0000\n`;
    return `${head}data 1\nx\n${blobs.join('')}`;
  });
  run(path, ['fast-import', '--quiet', '--done', '--date-format=raw'], `${commits.join('')}done\n`);
  run(path, ['reset', '--quiet', '--hard', 'main']);
}

function run(path: string, step: readonly string[], input?: string): void {
  const { status, stderr } = spawnSync('git', step, { cwd: path, encoding: 'utf8', input });
  if (status !== 0) throw new Error(`git ${String(step[0])} failed in ${path}: ${stderr}`);
}

export function createRepository(path: string, count: number, files: Readonly<Record<string, string>>): void {
  mkdirSync(path, { recursive: true });
  run(path, ['init', '--quiet', '--initial-branch=main']);
  if (count > 1) importFiles(path, count);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  const steps = [
    ['config', 'user.name', 'bench'],
    ['config', 'user.email', 'bench@squad.invalid'],
    ['add', '--all'],
    ['commit', '--quiet', '--message', 'The state before squad came'],
  ];
  for (const step of steps) run(path, step);
}

function planTurn(pieces: readonly Piece[]): object {
  const tasks = pieces.map(({ id, needs }) => ({
    id,
    title: `Make ${id}`,
    role: 'builder',
    needs,
    brief: `Write ${id}.txt.`,
    acceptance: [`${id}.txt exists`],
  }));
  const structured = { summary: 'as planned', tasks };
  return { when: 'Split this objective', steps: [{ answer: 'planned' }], structured };
}

function pieceTurn(turnMs: number, first: readonly object[] = []) {
  return ({ id }: Piece): object => ({
    when: `# Task ${id}:`,
    steps: [
      ...first,
      { sleep: turnMs },
      { write: { path: `${id}.txt`, text: `${id}\n` } },
      { run: ['git', 'add', '--all'] },
      { run: ['git', 'commit', '--quiet', '--message', `Make ${id}`] },
      { answer: 'done' },
    ],
  });
}

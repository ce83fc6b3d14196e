import { mkdirSync, closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createProjector } from '../src/engine/sinks/project-files.ts';
import { createBoard } from '../src/rules/board.ts';
import { factsOf } from '../src/rules/run-facts.ts';
import { newWork } from '../src/rules/work.ts';
import type { Board, TaskState } from '../src/model/plan/board.ts';
import { TaskTable } from '../src/model/plan/task-table.ts';
import { runDefinitionSchema, type RunDefinition } from '../src/model/run.ts';
import type { TurnResult } from '../src/model/turn-result.ts';
import { stageViews } from '../src/playbooks/stages/stage-views.ts';
import { workTask } from '../src/playbooks/shared/tasks.ts';
import { writtenFolder } from '../src/substrate/system/files/written-folder.ts';
import { plainJson, type Json } from '../src/text/json.ts';
import { growingPlan } from './shared/bench-playbook.ts';
import { machineIn, openOwnLedger, type OwnLedger } from './shared/machine.ts';
import { runSimulated } from './shared/simulated-run.ts';
import { cpuMs, median, milliseconds, rowOf, type Bench, type Row } from './shared/row.ts';

/** Tasks of the plan, and settled turns. */
const SIZES = [
  { tasks: 100, turns: 500 },
  { tasks: 2_000, turns: 10_000 },
] as const;
const CHANGES = 60;
const CHAIN = 200;
/** What agents say in a turn, on the average of long ones. */
const ANSWER = 'I have written what the brief asks for and run its tests.\n'.repeat(40);
const REQUEST = JSON.stringify({ prompt: '# Task: write what the brief asks for\n'.repeat(60) });

/** What the files of a run cost its engine: after each task, and after a resume, which compares all of them. */
export const files: Bench = {
  name: 'files',
  run: async (folder) => {
    const measured: { change: number; resume: number; turns: number }[] = [];
    for (const size of SIZES) measured.push(await measure(join(folder, `${size.tasks}`), size));
    const [small, large] = measured;
    if (small === undefined || large === undefined) throw new Error('nothing was measured');
    return [
      rowOf(
        'CPU of a task that ends, 2,000 tasks and 10,000 turns beside 100 and 500',
        'ms',
        large.change,
        small.change,
        {
          target: { of: 'squad', most: 10 },
          note: 'at most five times a second, in the background',
        },
      ),
      rowOf(
        'CPU of a resume, for each turn that is there',
        'ms',
        large.resume / large.turns,
        small.resume / small.turns,
        {
          target: { of: 'ratio', most: 2 },
        },
      ),
      await oneFile(folder),
      await wholeRun(folder),
    ];
  },
};

async function measure(own: string, { tasks, turns }: (typeof SIZES)[number]) {
  mkdirSync(own);
  const opened = openOwnLedger(machineIn(own), own);
  for (let turn = 0; turn < turns; turn += 1) settleTurn(opened, turn, tasks);
  const definition = definitionOf(own);
  const of = { lease: opened.lease, definition, limits: definition.limits };
  const ports = {
    ledger: opened.ledger,
    playbook: { stages: stageViews },
    workspaces: { readFileAt: async () => Promise.resolve('absent' as const) },
  };
  const open = (): ReturnType<typeof createProjector> => createProjector(ports, of, writtenFolder(join(own, 'files')));
  let board = boardOf(definition, tasks);
  await open()({ board, state: 'running' });
  const project = open();
  const resume = await cpuMs(async () => project({ board, state: 'running' }));
  const changes: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    settleTurn(opened, turns + change, tasks);
    board = ended(board, `task-${change}`);
    const now = board;
    changes.push(await cpuMs(async () => project({ board: now, state: 'running' })));
  }
  opened.close();
  return { change: median(changes), resume, turns };
}

function settleTurn({ ledger, lease, claim }: OwnLedger, turn: number, tasks: number): void {
  const id = `bench.turn-${turn}`;
  claim(id, REQUEST, `task-${turn % tasks}`);
  const usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5 };
  const result: TurnResult = {
    ...{ outcome: 'completed', text: ANSWER, denials: [], usage, stderrTail: '', durationMs: 1 },
  };
  ledger.settle(lease, id, result);
}

const REVIEW = { id: 'BUILD_REVIEW', by: ['reviewer'] };
const LIST: Json = {
  stages: [{ id: 'BUILD', by: ['builder'], brief: '', makes: { code: true }, review: REVIEW }],
};

function boardOf(definition: RunDefinition, count: number): Board {
  const states = Array.from({ length: count }, (_, order): TaskState => {
    const about = { id: `task-${order}`, title: `Build part ${order}`, role: 'builder', brief: 'Build it.' };
    return { task: workTask(about, {}), order, depth: 0, at: { added: 0, started: 1 }, work: newWork() };
  });
  const placed = states.map(({ task }) => [task.id, plainJson({ stage: 'BUILD', pass: 1, as: 'work' })] as const);
  return {
    ...createBoard(factsOf(definition)),
    tasks: states.reduce((table, state) => table.with(state), new TaskTable()),
    records: new Map([['stage-tasks', new Map(placed)]]),
  };
}

function ended(board: Board, id: string): Board {
  const state = board.tasks.get(id);
  if (state === undefined) throw new Error(`there is no ${id}`);
  const phase = { at: 'ended', as: 'done', cause: null, why: '' } as const;
  const at = { ...state.at, ended: 2 };
  return { ...board, tasks: board.tasks.with({ ...state, at, work: { ...state.work, phase, authors: ['bench'] } }) };
}

function definitionOf(root: string): RunDefinition {
  return runDefinitionSchema.parse({
    version: 1,
    name: 'bench',
    source: 'objective.md',
    objective: { title: 'Bench', goals: ['measure'], criteria: [], constraints: [], context: '', text: '# Bench\n' },
    playbook: 'stages',
    options: { list: LIST, folder: 'docs/squad/bench', reviewRounds: 4 },
    agents: [
      {
        name: 'bench',
        role: 'builder',
        runtime: 'scripted',
        access: { level: 'edit' },
        instructions: '',
        account: 'scripted',
      },
    ],
    runtimes: {},
    limits: {},
    setup: [],
    verify: [],
    repository: { root, base: 'b'.repeat(40), branch: 'main' },
    ...{ described: {}, judges: ['reviewer', 'member'], baseline: 'off', plan: 'auto', strict: false },
    trusted: null,
  });
}

/** Turns of no length: no run asks more of the disk. In turns, because a disk has moods. */
async function wholeRun(folder: string): Promise<Row> {
  const times: { squad: number; bare: number }[] = [];
  for (let round = 0; round < 3; round += 1) {
    const chain = async (name: string, hasFiles: boolean): Promise<number> => {
      const own = join(folder, `${name}-${round}`);
      mkdirSync(own);
      const { supersteps } = await runSimulated(own, {
        playbook: growingPlan(CHAIN),
        parallel: 1,
        turns: { durationMs: () => 0 },
        files: hasFiles,
      });
      return (supersteps.at(-1)?.at ?? Number.NaN) - (supersteps[0]?.at ?? Number.NaN);
    };
    times.push({ bare: await chain('bare', false), squad: await chain('files', true) });
  }
  const name = `a chain of ${CHAIN} turns of no length with its files, beside one without`;
  const [squad, bare] = [median(times.map((one) => one.squad)), median(times.map((one) => one.bare))];
  return rowOf(name, 'ms', squad, bare, { target: { of: 'ratio', most: 1.25 } });
}

/** Whole or not at all costs what the disk takes for it. */
async function oneFile(folder: string): Promise<Row> {
  const written = writtenFolder(folder);
  const squad: number[] = [];
  const bare: number[] = [];
  for (let turn = 0; turn < CHANGES; turn += 1) {
    squad.push(await milliseconds(async () => written.put(`own/${turn}.md`, ANSWER)));
    bare.push(await milliseconds(() => writeBare(join(folder, `bare-${turn}.md`))));
  }
  const name = 'a file, beside writing, flushing and renaming it';
  return rowOf(name, 'ms', median(squad), median(bare), { target: { of: 'ratio', most: 3 } });
}

function writeBare(path: string): void {
  const file = openSync(`${path}.new`, 'wx');
  writeSync(file, ANSWER);
  fsyncSync(file);
  closeSync(file);
  renameSync(`${path}.new`, path);
}

import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { isJsonObject } from '../../src/text/json.ts';
import type { LedgerEvent } from '../../src/model/ledger-event.ts';
import { createSystemClock } from '../../src/substrate/clock/system-clock.ts';
import { createRepository } from '../../src/substrate/git/repository.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { machineIn, type Machine } from './machine.ts';

export const LAUNCHER = fileURLToPath(new URL('../../bin/squad.cjs', import.meta.url));

export interface Piece {
  readonly id: string;
  readonly needs: readonly string[];
}

export interface ScriptedRoom {
  readonly machine: Machine;
  readonly repository: string;
  /** The built command line on this repository's objective, as its user would start it. */
  startRun(): ChildProcess;
  /** Of the ledger; none before there is one. */
  events(): readonly LedgerEvent[];
}

/**
 * A repository with an objective, a planner and a builder, both scripted: real processes in real worktrees. The plan is
 * `pieces`; each is one turn that sleeps, writes one file and commits it.
 */
export async function openScriptedRoom(
  folder: string,
  plan: {
    pieces: readonly Piece[];
    turnMs: number;
    parallel: number;
    /** Steps of each piece's turn before it sleeps. */
    first?: readonly object[];
  },
): Promise<ScriptedRoom> {
  const machine = machineIn(folder);
  const repository = join(folder, 'repository');
  const script = join(folder, 'script.json');
  writeFileSync(
    script,
    JSON.stringify({ turns: [planTurn(plan.pieces), ...plan.pieces.map(pieceTurn(plan.turnMs, plan.first))] }),
  );
  await createRepository(machine.git, repository, {
    'readme.md': '# bench\n',
    'objective.md': '# Bench\n\n## Goals\n- Every piece is there\n\n## Success criteria\n- All of it is committed\n',
    'squad.yaml': stringify({
      version: 1,
      agents: [
        { name: 'planner', role: 'planner', runtime: 'scripted', access: 'read-only' },
        { name: 'builder', role: 'builder', runtime: 'scripted' },
      ],
      runtimes: { scripted: { config: { script } } },
      limits: { parallel: plan.parallel },
    }),
  });
  return {
    machine,
    repository,
    startRun: () =>
      spawn(process.execPath, [LAUNCHER, 'run', 'objective.md', '--yes', '--json'], {
        cwd: repository,
        env: { PATH: process.env['PATH'], HOME: folder, XDG_STATE_HOME: machine.host.stateHome },
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    events: () => readEvents(repository),
  };
}

/** Resolves when it has ended by itself; rejects unless the run was done. */
export async function ended(child: ChildProcess): Promise<void> {
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`squad run ended with ${String(code)}`);
}

export function attemptsOf(events: readonly LedgerEvent[], type: string): { at: number; task: string }[] {
  return events.flatMap((event) => {
    const { data } = event;
    if (event.type !== type || !isJsonObject(data)) return [];
    const { taskId } = data;
    return typeof taskId === 'string' ? [{ at: event.at, task: taskId }] : [];
  });
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

function readEvents(repository: string): readonly LedgerEvent[] {
  try {
    const ledger = openLedger(join(repository, '.squad'), { clock: createSystemClock(), readOnly: true });
    const events = ledger.events({});
    ledger.close();
    return events;
  } catch {
    // It is being made.
    return [];
  }
}

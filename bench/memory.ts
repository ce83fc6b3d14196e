import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { longRun, MEMORY_FLAGS } from './shared/long-run.ts';
import { round, rowOf, type Bench } from './shared/row.ts';
import { processesOf, sharedMegabytes, type Part } from './shared/run-processes.ts';
import { ended, openScriptedRoom, type Piece } from './shared/scripted-room.ts';
import { attemptsOf } from './shared/stored-events.ts';

const LIVE = 6;
const TARGET = { of: 'squad', most: 130 } as const;
const PRINT = "console.log(/VmRSS:\\s+(\\d+)/.exec(require('fs').readFileSync('/proc/self/status','utf8'))[1])";

/** Resident memory of the engine's own process, beside a Node that does nothing; then of all that belongs to its turns. */
export const memory: Bench = {
  name: 'memory',
  run: async (folder) => {
    const idle =
      Number(spawnSync(process.execPath, [...MEMORY_FLAGS, '-e', PRINT], { encoding: 'utf8' }).stdout) / 1024;
    const { live, parts } = await withLiveTurns(folder);
    const { turns } = await longRun();
    // The last but one: the bench itself reads a lot at the very end.
    const late = turns.at(-2)?.rssMb ?? NaN;
    return [
      rowOf(`with ${LIVE} live turns`, 'MB', live, idle, { target: TARGET }),
      rowOf(
        `engine, and wrapper, mail server and player of ${LIVE} scripted agents`,
        'MB',
        sumOf(parts),
        parts.agents,
        {
          target: { of: 'squad', most: 500 },
          asked: '< 500 MB',
          note: `shared memory in parts: engine ${round(parts.engine)}, wrappers and servers ${round(parts.turns)}, players ${round(parts.agents)}`,
        },
      ),
      rowOf(`after ${turns.length - 1} turns`, 'MB', late, idle, {
        target: TARGET,
        note: `at its first turn ${turns[0]?.rssMb.toFixed(1)} MB`,
      }),
    ];
  },
};

interface Most {
  /** Resident. */
  readonly live: number;
  readonly parts: Readonly<Record<Part, number>>;
}

/** The most that was seen while all of them ran: real processes, by the built command line. */
async function withLiveTurns(folder: string): Promise<Most> {
  const pieces = Array.from({ length: LIVE }, (_, index): Piece => ({ id: `piece-${index + 1}`, needs: [] }));
  // The first call of a tool starts the mail server of a turn.
  const first = [{ mcp: 'squad', tool: 'status', arguments: {} }];
  const room = openScriptedRoom(folder, { pieces, turnMs: 3_000, parallel: LIVE, first });
  const child = room.startRun();
  const done = ended(child);
  const engine = child.pid ?? 0;
  let most: Most = { live: 0, parts: { engine: 0, turns: 0, agents: 0 } };
  while (child.exitCode === null) {
    await sleep(100);
    const events = room.events();
    const settled = attemptsOf(events, 'attempt-settled').map(({ attempt }) => attempt);
    const spawned = attemptsOf(events, 'attempt-spawned').map(({ attempt }) => attempt);
    const lives = spawned.filter((attempt) => !settled.includes(attempt));
    if (lives.length !== LIVE) continue;
    const parts = memoryOf(engine, lives);
    most = {
      live: Math.max(most.live, residentMb(engine)),
      parts: sumOf(parts) > sumOf(most.parts) ? parts : most.parts,
    };
  }
  await done;
  return most;
}

function memoryOf(engine: number, attempts: readonly string[]): Record<Part, number> {
  const parts: Record<Part, number> = { engine: 0, turns: 0, agents: 0 };
  for (const { pid, part } of processesOf(engine, attempts)) parts[part] += sharedMegabytes(pid);
  return parts;
}

function sumOf({ engine, turns, agents }: Most['parts']): number {
  return engine + turns + agents;
}

function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    // It has ended since.
    return 0;
  }
}

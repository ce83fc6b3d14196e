import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { MEMORY_FLAGS } from './shared/long-run.ts';
import { rowOf, type Bench } from './shared/row.ts';
import { sharedMegabytes } from './shared/run-processes.ts';
import { ended, openScriptedRoom, type Piece } from './shared/scripted-room.ts';

const LIVE = 6;
const ROUNDS = 10;

interface Memory {
  /** MB, of the largest server. */
  readonly largest: number;
  /** MB, of the engine and all servers. */
  readonly together: number;
}

/** What the mail servers of live turns cost, each a process. */
export const mcp: Bench = {
  name: 'mcp',
  run: async (folder) => {
    const bare = await idleNodes();
    const squad = await withMail(folder);
    return [
      rowOf(`the largest of ${LIVE} servers`, 'MB', squad.largest, bare.largest, { target: { of: 'squad', most: 30 } }),
      rowOf(`engine and ${LIVE} servers`, 'MB', squad.together, bare.together, { target: { of: 'squad', most: 500 } }),
    ];
  },
};

/** As many Nodes as there are processes otherwise, which do nothing. */
async function idleNodes(): Promise<Memory> {
  const nodes = Array.from({ length: LIVE + 1 }, () =>
    spawn(process.execPath, [...MEMORY_FLAGS, '-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }),
  );
  await sleep(2_000);
  const sizes = nodes.map(({ pid = 0 }) => sharedMegabytes(pid));
  for (const node of nodes) node.kill('SIGKILL');
  return { largest: Math.max(...sizes), together: sizes.reduce((sum, size) => sum + size, 0) };
}

/** The most that was seen while all of them were there: real processes, by the built command line. */
async function withMail(folder: string): Promise<Memory> {
  const pieces = Array.from({ length: LIVE }, (_, index): Piece => ({ id: `piece-${index + 1}`, needs: [] }));
  const call = (tool: string, given: object = {}): object => ({ mcp: 'squad', tool, arguments: given });
  const round = [
    call('send', { to: ['planner'], text: 'word '.repeat(200) }),
    call('inbox'),
    call('status'),
    // Refused, which has to be written down too.
    call('send', { to: ['planner'], text: 'x', from: 'MAIN' }),
  ];
  const first = Array.from({ length: ROUNDS }, () => round).flat();
  const room = openScriptedRoom(folder, { pieces, turnMs: 5_000, parallel: LIVE, first });
  const engine = room.startRun();
  const done = ended(engine);
  let most: Memory = { largest: 0, together: 0 };
  while (engine.exitCode === null) {
    await sleep(200);
    most = larger(most, look(engine, folder));
  }
  await done;
  if (most.together === 0) throw new Error(`never saw ${LIVE} servers at once`);
  return most;
}

/** Nothing before all servers are there. */
function look({ pid = 0 }: ChildProcess, folder: string): Memory {
  const servers = serversOf(folder).map(sharedMegabytes);
  if (servers.length < LIVE) return { largest: 0, together: 0 };
  return {
    largest: Math.max(...servers),
    together: servers.reduce((sum, size) => sum + size, sharedMegabytes(pid)),
  };
}

function larger(one: Memory, other: Memory): Memory {
  return {
    largest: Math.max(one.largest, other.largest),
    together: Math.max(one.together, other.together),
  };
}

/** Pids of the servers of turns of the run in this folder, which has the state of squad too. */
function serversOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const line = read(`/proc/${pid}/cmdline`);
      return line.includes('mcp.mjs\0--turn-file\0') && line.includes(folder);
    });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended since.
    return '';
  }
}

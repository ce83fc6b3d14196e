import { spawnSync } from 'node:child_process';
import { existsSync, globSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { killAll, markedPids } from '../marked-pids.ts';
import { openRunRoom, type RunRoom } from '../run-room.ts';
import { FAN_OUT } from '../run-scenarios.ts';
import type { Scenario } from '../scenario-parts.ts';

/** A run whose engine was killed in the middle, kept so that each trial begins from it, and as it was some turns earlier. */
export interface KilledRoom {
  readonly room: RunRoom;
  readonly older: string;
  /** Puts all back. */
  reset(): void;
  close(): void;
}

/** As `fan-out`, and each piece sends a message that is so long that it has a file of its own. */
export const LONG_FAN_OUT: Scenario = {
  ...FAN_OUT,
  script: (effects) => {
    const { turns } = FAN_OUT.script(effects);
    const send = { mcp: 'squad', tool: 'send', arguments: { to: ['MAIN'], text: 'This is under way. '.repeat(400) } };
    const isPiece = (when: unknown): boolean => /^# Task (?:left|right):/.test(String(when));
    return {
      turns: (turns as { when?: string; steps: object[] }[]).map((turn) =>
        isPiece(turn.when) ? { ...turn, steps: [send, ...turn.steps] } : turn,
      ),
    };
  },
};

/** The places at which its engines are killed: with the first piece on the branch, and the second one done and not looked at. */
export const KILLED = [LONG_FAN_OUT, 'attempt.settled:2=kill', 'git.advanced:1=kill'] as const;

export async function openKilledRoom([scenario, first, second]: readonly [
  Scenario,
  string,
  string,
]): Promise<KilledRoom> {
  const room = openRunRoom(scenario);
  const [older, kept] = [`${room.root}.older`, `${room.root}.kept`];
  await killed(room, room.begin({ SQUAD_FAILPOINTS: first }).finished);
  copyTree(room.root, older);
  // Whoever else closes the ledger is not the last one, who would bring the log into the file.
  const reader = room.ledger();
  await killed(room, room.resume({ SQUAD_FAILPOINTS: second }).finished);
  const backup = await room.run(['db', 'backup']);
  if (backup.code !== 0) throw new Error(backup.stderr);
  copyTree(room.root, kept);
  reader.close();
  return {
    room,
    older,
    reset: () => {
      remove(room.root);
      copyTree(kept, room.root);
    },
    close: () => [room.root, kept, older].forEach(remove),
  };
}

async function killed(room: RunRoom, engine: Promise<{ signal: string | null; stderr: string }>): Promise<void> {
  const { signal, stderr } = await engine;
  if (signal !== 'SIGKILL') throw new Error(`the engine was not killed: ${stderr}`);
  // What is in flight ends by itself, and no engine has seen it.
  for (let look = 0; look < 50 && turnsOf(room).length > 0; look += 1) await pause(100);
  endTurns(room);
}

/** Also of a state that cannot be read. */
export function endTurns(room: RunRoom): void {
  killAll(turnsOf(room));
}

function turnsOf({ root }: RunRoom): number[] {
  const turns = globSync(join(`${root}{,.kept}`, 'state/squad/*/turns/*')).map((path) => basename(path));
  return [...new Set(turns)].flatMap(markedPids);
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

/** With modes, times and links, as they are. */
function copyTree(from: string, to: string): void {
  if (existsSync(to)) throw new Error(`${to} is there`);
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

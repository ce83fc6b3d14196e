import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLI_ENTRY } from '../cli-entry.ts';
import type { RunRoom } from '../run-room.ts';
import { Disk } from './disk.ts';
import { readCalls, recorded, type SystemCall } from './system-calls.ts';
import { readTree } from './tree.ts';

/** What a person does, one command after the other. */
const COMMANDS = ['run', 'merge', 'drop'] as const;

export interface Recording {
  /** As it was before the first command. */
  readonly disk: Disk;
  readonly calls: readonly SystemCall[];
  /** How many calls were made when each command had ended. */
  readonly ends: Readonly<Record<(typeof COMMANDS)[number], number>>;
}

/** Not of the disk: the memory that processes share by a file, and compiled code. */
function isOutside(path: string): boolean {
  return /-shm$|\/squad\/compiled$/.test(path);
}

/** Records each write of squad, of its gits and of its agents, from the start of a run to the end of its branch. */
export function record(room: RunRoom): Recording {
  // Read now: what is in the room changes.
  const disk = new Disk();
  readTree(disk, room.root, isOutside);
  const folder = mkdtempSync(join(tmpdir(), 'squad-calls-'));
  const calls: SystemCall[] = [];
  const ends = { run: 0, merge: 0, drop: 0 };
  try {
    for (const command of COMMANDS) {
      const own = join(folder, command);
      mkdirSync(own);
      const args =
        command === 'run'
          ? ['run', 'objective.md', '--runtime', 'scripted', '--yes', '--json']
          : [command, ...(command === 'drop' ? ['--yes'] : [])];
      const [program, all] = recorded(own, [process.execPath, CLI_ENTRY, ...args]);
      const done = spawnSync(program, all, { cwd: room.repository, env: environmentOf(room), encoding: 'utf8' });
      if (done.status !== 0)
        throw new Error(`squad ${command} ended with ${done.status}: ${done.stdout.slice(-2_000)}${done.stderr}`);
      for (const call of readCalls(own, room.root)) calls.push(call);
      ends[command] = calls.length;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { disk, calls, ends };
}

function environmentOf(room: RunRoom): Record<string, string | undefined> {
  return {
    PATH: process.env['PATH'],
    HOME: room.root,
    XDG_STATE_HOME: join(room.root, 'state'),
    NODE_COMPILE_CACHE: join(tmpdir(), 'squad-test-compile-cache'),
  };
}

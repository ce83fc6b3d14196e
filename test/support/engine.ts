import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSquadError } from '../../src/model/errors.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import type { Ledger } from '../../src/substrate/ports/ledger.ts';
import { CLI_ENTRY } from './cli-entry.ts';

import { createRepository } from './git.ts';
import { stateOf } from './state.ts';

/** A script that plays one turn of any runtime, in place of `squad`, for `EngineRoom.start`. */
export const DEV_TURN = fileURLToPath(new URL('../../scripts/dev-turn.ts', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The JSON lines of stdout. */
  readonly lines: readonly Record<string, unknown>[];
}

/** A repository and a home of its own, in which the real command line is run as a process. */
export interface EngineRoom {
  readonly root: string;
  readonly repository: string;
  /** `flags` are of Node. `cwd`: absent: the repository. */
  start(args: readonly string[], environment?: Record<string, string>, flags?: readonly string[], cwd?: string): Engine;
  run(args: readonly string[], environment?: Record<string, string>): Promise<Finished>;
  script(value: unknown): string;
  ledger(): Ledger;
  close(): void;
}

export interface Engine {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves with the first JSON line that fits. Rejects when the engine ends without one. */
  line(fits: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
}

export function openEngineRoom(files: Readonly<Record<string, string>> = {}): EngineRoom {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-engine-')));
  const repository = createRepository(join(root, 'repository'), files);
  let scripts = 0;
  const start: EngineRoom['start'] = (args, environment = {}, flags = [], cwd = repository) =>
    follow(
      spawn(process.execPath, [...flags, ...(args[0] === DEV_TURN ? args : [CLI_ENTRY, ...args])], {
        cwd,
        env: {
          PATH: process.env['PATH'],
          HOME: root,
          XDG_STATE_HOME: join(root, 'state'),
          // Many processes of the same modules: compiled once.
          NODE_COMPILE_CACHE: join(tmpdir(), 'squad-test-compile-cache'),
          ...environment,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
  return {
    root,
    repository,
    start,
    run: (args, environment) => start(args, environment).finished,
    script: (value) => {
      scripts += 1;
      const path = join(root, `script-${scripts}.json`);
      writeFileSync(path, JSON.stringify(value));
      return path;
    },
    ledger: () => openLedger(stateOf(repository), { clock: createSystemClock(), readOnly: true }),
    close: () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}

/** The engine was killed while it made the ledger, or the first run in it: there is nothing to read yet. */
export function isHalfMade(error: unknown): boolean {
  // The second: between two steps of the schema.
  return isSquadError(error) && (error.code === 'usage' || error.code === 'storage-refused');
}

/** The whole JSON lines of what was printed. */
export function jsonLines(stdout: string): Record<string, unknown>[] {
  return stdout
    .slice(0, stdout.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function follow(child: ChildProcess): Engine {
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  const lines = (): Record<string, unknown>[] => jsonLines(stdout);
  const wake = (): void => {
    for (const look of waiting) look();
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    wake();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const finished = new Promise<Finished>((resolve) => {
    child.once('close', (code, signal) => {
      resolve({ code, signal, stdout, stderr, lines: lines() });
      wake();
    });
  });
  return {
    child,
    finished,
    line: (fits) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines().find(fits);
          if (found === undefined && child.exitCode === null && child.signalCode === null) return;
          waiting.delete(look);
          if (found === undefined) reject(new Error(`the engine ended first: ${stdout}\n${stderr}`));
          else resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

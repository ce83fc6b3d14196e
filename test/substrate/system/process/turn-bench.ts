import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { createSystemClock } from '../../../../src/substrate/system/clock/system-clock.ts';
import type { WaitingTurn, OutputLine, TurnEnding, TurnSpawn } from '../../../../src/substrate/ports/processes.ts';
import { createSystemProcesses } from '../../../../src/substrate/system/process/system-processes.ts';
import { markedPids } from '../../../support/marked-pids.ts';

export const clock = createSystemClock();
export const processes = createSystemProcesses({ clock });
export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../fixtures/agents/${name}.mjs`, import.meta.url));
/** Options under which every Node that we support runs a .ts file itself. */
export const RUN_TYPESCRIPT = ['--experimental-strip-types', '--no-warnings'];
export const never = (): AbortSignal => new AbortController().signal;

/** Folders and markers of one test file; `close` fails the test that left a process behind. */
export function createTurnBench() {
  const root = mkdtempSync(join(tmpdir(), 'squad-processes-'));
  const markers: string[] = [];
  let turns = 0;

  const directory = (): string => mkdtempSync(join(root, 'turn-'));
  const marker = (): string => {
    turns += 1;
    const made = `test-${process.pid}-${Math.random().toString(36).slice(2)}-${turns}`;
    markers.push(made);
    return made;
  };
  const spawnOf = (agent: string, args: readonly string[] = [], more: Partial<TurnSpawn> = {}): TurnSpawn => ({
    directory: directory(),
    command: process.execPath,
    args: [fixture(agent), ...args],
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
    marker: marker(),
    stdin: '',
    wallMs: 60_000,
    maxOutputBytes: 1024 ** 3,
    ...more,
  });
  return {
    root,
    directory,
    marker,
    spawnOf,
    async start(spawn: TurnSpawn): Promise<WaitingTurn> {
      const held = await processes.spawnTurn(spawn);
      await held.go();
      return held;
    },
    async finish(spawn: TurnSpawn): Promise<{ ending: TurnEnding; stdout: Buffer; stderr: string }> {
      const held = await this.start(spawn);
      const ending = await processes.waitForEnding(held.identity, spawn.directory, never());
      if (ending === undefined) throw new Error('no ending');
      await processes.endTurn(held.identity, spawn.directory, []);
      const stdout = readFileSync(join(spawn.directory, 'stdout'));
      return { ending, stdout, stderr: readFileSync(join(spawn.directory, 'stderr'), 'utf8') };
    },
    async close(): Promise<void> {
      const left = markers.flatMap(markedPids);
      for (const made of markers) await processes.sweep(made);
      rmSync(root, { recursive: true, force: true });
      expect(left, 'processes left behind by these tests').toEqual([]);
    },
  };
}

/** Waits until the file's content satisfies the check; fails after `ms`. */
export async function untilFile(path: string, isRight: (text: string) => boolean, ms = 60_000): Promise<string> {
  return until(() => {
    const text = readQuietly(path);
    return text !== undefined && isRight(text) ? text : undefined;
  }, ms);
}

export async function until<T>(look: () => T | undefined, ms = 60_000): Promise<T> {
  const deadline = clock.monotonic() + ms;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (clock.monotonic() > deadline) throw new Error(`did not happen within ${ms} ms`);
    await clock.sleep(20);
  }
}

export function readQuietly(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

export function isRunning(pid: number): boolean {
  const stat = readQuietly(`/proc/${pid}/stat`);
  return stat !== undefined && !/\) [ZX] /.test(stat);
}

export async function collect(lines: AsyncIterable<OutputLine>): Promise<OutputLine[]> {
  const found: OutputLine[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

import { statSync } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { wrongEnvironment } from '../../../model/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Processes } from '../../ports/processes.ts';
import { endTurn, sweep } from './end-turn.ts';
import { waitForEnding } from './ending.ts';
import { createIsolation } from './isolation.ts';
import { ageMs, isAlive, sinceBoot } from './process-table.ts';
import { createHelperRunner } from './run-helper.ts';
import { spawnTurn } from './spawn-turn.ts';
import { tailFile } from './tail.ts';

/**
 * The operating system's processes. Methods that must identify a process see them by Linux's /proc, or elsewhere by `ps`; on Windows they
 * reject with a SquadError. Tailing, sizes and helpers work everywhere.
 */
export function createSystemProcesses(settings: { clock: Clock; platform?: NodeJS.Platform }): Processes {
  const { clock, platform = process.platform } = settings;
  const isolation = createIsolation();

  const onUnix =
    <Args extends readonly unknown[], Answer>(work: (...args: Args) => Answer | Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      if (platform !== 'win32') return work(...args);
      throw wrongEnvironment(
        `Agents cannot be run safely on ${platform}: squad tells processes apart by /proc or \`ps\`.`,
        'Run squad on Linux, in a container, or in WSL.',
      );
    };
  const outputsOf = (directory: string): readonly [string, string] => [
    join(directory, 'stdout'),
    join(directory, 'stderr'),
  ];

  return {
    spawnTurn: onUnix(async (spawn) => {
      const prefix = (await isolation()).before({ keepsUser: spawn.keepsUser === true });
      return spawnTurn(spawn, prefix, clock);
    }),
    isolation: onUnix(async () => (await isolation()).says),
    isAlive: onUnix(isAlive),
    ageMs: onUnix(ageMs),
    sinceBoot,
    waitForEnding: onUnix(async (identity, directory, signal) => waitForEnding(identity, directory, signal, clock)),
    endTurn: onUnix(async (identity, directory, ladder) => endTurn(identity, directory, ladder, clock)),
    sweep: onUnix(async (marker) => sweep(marker, clock)),
    tail: (path, ended) => tailFile(path, ended, clock),
    outputBytes: (directory) => Promise.resolve(sumOf(outputsOf(directory).map(sizeOf))),
    trimOutput: async (directory, keepBytes) => {
      const parts = { head: keepBytes / 2, tail: keepBytes / 2 };
      return sumOf(await Promise.all(outputsOf(directory).map(async (path) => trimOutput(path, parts))));
    },
    run: createHelperRunner(clock, platform),
  };
}

/** 0 until the agent is released, because its output files do not exist yet. */
function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0;
  }
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

const CHUNK_BYTES = 1024 * 1024;
/** Room for the line between the parts, so that a trimmed file is not trimmed again. */
const NOTE_BYTES = 256;

/**
 * Replaces the middle of a large log by a JSON line with the number of dropped bytes, which it returns (0: small or absent). A crash leaves
 * the old or the new file. Only for a settled turn: a running program would write to the old file.
 */
export async function trimOutput(path: string, parts: { head: number; tail: number }): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.size <= parts.head + parts.tail + NOTE_BYTES) return 0;
  const dropped = found.size - parts.head - parts.tail;
  const temporary = `${path}.trimmed`;
  try {
    await writeTrimmed(path, temporary, { ...parts, size: found.size, note: makeNote(dropped) });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return dropped;
}

/** Always a line of its own. Readers of NDJSON skip a type that they do not know. */
function makeNote(dropped: number): string {
  return `\n${JSON.stringify({ type: 'squad-output-trimmed', droppedBytes: dropped })}\n`;
}

async function writeTrimmed(
  from: string,
  to: string,
  { head, tail, size, note }: { head: number; tail: number; size: number; note: string },
): Promise<void> {
  await rm(to, { force: true });
  const source = await open(from, 'r');
  const target = await open(to, 'wx', 0o600);
  try {
    await copyRange(source, target, 0, head);
    await target.write(note);
    await copyRange(source, target, size - tail, size);
    await target.sync();
  } finally {
    await target.close();
    await source.close();
  }
}

async function copyRange(source: FileHandle, target: FileHandle, start: number, end: number): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let position = start; position < end;) {
    const { bytesRead } = await source.read(buffer, 0, Math.min(CHUNK_BYTES, end - position), position);
    if (bytesRead === 0) return;
    await target.writeFile(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}

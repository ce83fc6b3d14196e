import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { ProcessIdentity } from '../../model/process-identity.ts';
import type { Clock } from '../ports/clock.ts';
import type { TurnEnding } from '../ports/processes.ts';
import { isSameProcess } from './process-table.ts';

/** A new turn may fail at once and is checked often, an old one four times a second. */
const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 250;
/** If a wrapper is killed while its `mv` runs, the exit file may still appear for this long. */
const RENAME_GRACE_MS = 100;

/** undefined: the signal aborted first. */
export async function waitForEnding(
  identity: ProcessIdentity,
  directory: string,
  signal: AbortSignal,
  clock: Clock,
): Promise<TurnEnding | undefined> {
  for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(wait * 1.1, LONGEST_WAIT_MS)) {
    try {
      const ending = await readEnding(directory);
      if (ending !== undefined) return ending;
      if (!isSameProcess(identity)) return await lookOnceMore(directory, clock);
    } catch (error) {
      if (!isOutOfFiles(error)) throw error;
    }
    await clock.sleep(wait, signal);
  }
  return undefined;
}

/** The engine has no free descriptor at the moment, which says nothing about the turn. */
function isOutOfFiles(error: unknown): boolean {
  return ['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '');
}

async function lookOnceMore(directory: string, clock: Clock): Promise<TurnEnding> {
  await clock.sleep(RENAME_GRACE_MS);
  const ending = await readEnding(directory);
  return ending ?? { type: 'vanished', ...(await readEndedBy(directory)) };
}

/** The ending that the wrapper recorded. undefined: none yet, or no valid status (a power cut can leave an empty file). */
export async function readEnding(directory: string): Promise<TurnEnding | undefined> {
  const text = await readWord(join(directory, 'exit'));
  if (text === 'never-started') return { type: 'never-started' };
  if (text === undefined || !/^\d{1,3}$/.test(text)) return undefined;
  const code = Number(text);
  return { type: 'exited', code, signal: signalName(code), ...(await readEndedBy(directory)) };
}

/** POSIX shells report death by signal N as 128+N. A program may also exit with such a status itself. */
function signalName(code: number): string | null {
  if (code <= 128) return null;
  const found = Object.entries(constants.signals).find(([, number]) => number === code - 128);
  return found?.[0] ?? null;
}

async function readEndedBy(directory: string): Promise<{ endedBy?: 'wall' | 'flood' }> {
  const text = await readWord(join(directory, 'ended-by'));
  return text === 'wall' || text === 'flood' ? { endedBy: text } : {};
}

async function readWord(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

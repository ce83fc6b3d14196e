import { statSync, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { ProcessIdentity } from '../../../model/process-identity.ts';
import type { Clock } from '../../ports/clock.ts';
import type { TurnEnding } from '../../ports/processes.ts';
import { untilBeat } from '../clock/beat.ts';
import { isSameProcess } from './process-table.ts';

/** How often to look where a watch shows nothing: a wrapper was killed. The longer one of two where there is a watch. */
const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = { watched: 1_000, unwatched: 250 };
/** How often to ask the process table whose the pid is now. Between, it is enough that the pid answers, at a tenth of the cost. */
const TABLE_MS = 1000;
/** If a wrapper is killed while its `mv` runs, the exit file may still appear for this long. */
const RENAME_GRACE_MS = 100;

/** Reserves the room for the exit status; the wrapper writes it there and renames the file to `exit`. */
export const UNRECORDED_EXIT = 'exit.tmp';

/** Resolves some ms after the wrapper has recorded the end. undefined: the signal aborted first. */
export async function waitForEnding(
  identity: ProcessIdentity,
  directory: string,
  signal: AbortSignal,
  clock: Clock,
): Promise<TurnEnding | undefined> {
  let wake = new AbortController();
  let askedAt = -Infinity;
  const wakeUp = (): void => wake.abort();
  signal.addEventListener('abort', wakeUp);
  const stopWatching = watchForRename(join(directory, UNRECORDED_EXIT), wakeUp);
  const longest = LONGEST_WAIT_MS[stopWatching === undefined ? 'unwatched' : 'watched'];
  try {
    for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(wait * 1.1, longest)) {
      // Before the look, so that an end during the look is not slept through.
      wake = new AbortController();
      const asks = clock.monotonic() - askedAt >= TABLE_MS;
      if (asks) askedAt = clock.monotonic();
      const ending = await look(identity, directory, clock, asks);
      if (ending !== undefined) return ending;
      const isRare = wait === longest;
      if (!signal.aborted) await clock.sleep(isRare ? untilBeat(clock, wait) : wait, wake.signal);
    }
  } finally {
    stopWatching?.();
    signal.removeEventListener('abort', wakeUp);
  }
  return undefined;
}

async function look(
  identity: ProcessIdentity,
  directory: string,
  clock: Clock,
  asks: boolean,
): Promise<TurnEnding | undefined> {
  try {
    const ending = await readEnding(directory);
    if (ending !== undefined || (!asks && answers(identity.pid)) || isSameProcess(identity)) return ending;
    return await lookOnceMore(directory, clock);
  } catch (error) {
    if (!isOutOfFiles(error)) throw error;
    return undefined;
  }
}

function answers(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Watches this one file, not its folder, where each line that the agent prints would wake the engine. Returns its end, if it works. */
function watchForRename(path: string, onRename: () => void): (() => void) | undefined {
  try {
    const watcher = watch(path, { persistent: false }, (change) => {
      if (change === 'rename') onRename();
    });
    watcher.on('error', () => undefined);
    return () => watcher.close();
  } catch {
    // The turn has ended, or nothing can be watched here. Polling finds its end too.
    return undefined;
  }
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
  // Mostly it is not there. To find that out by an error costs a hundred times as much. A read of a pipe would not end.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

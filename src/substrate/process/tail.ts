import { type FileHandle, open } from 'node:fs/promises';
import type { Clock } from '../ports/clock.ts';
import type { OutputLine } from '../ports/processes.ts';
import { createLineSplitter } from './splitter.ts';

const CHUNK_BYTES = 64 * 1024;
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 200;

/**
 * Lines of a growing file, which need not exist yet. After `ended` has aborted it is read to the size it then has and no
 * further: something that escaped the turn may write for ever. One chunk is in memory at a time, and the next is read
 * only when the caller has taken every line of it.
 */
export async function* tailFile(path: string, ended: AbortSignal, clock: Clock): AsyncGenerator<OutputLine> {
  const file = await openWhenThere(path, ended, clock);
  if (file === undefined) return;
  const splitter = createLineSplitter();
  try {
    for await (const chunk of readGrowing(file, ended, clock)) yield* splitter.push(chunk);
    yield* splitter.end();
  } finally {
    await file.close();
  }
}

async function openWhenThere(path: string, ended: AbortSignal, clock: Clock): Promise<FileHandle | undefined> {
  for (let wait = FIRST_WAIT_MS; ; wait = longer(wait)) {
    // Asked before the attempt to open: a file that came just before the end must still be found.
    const isLastTry = ended.aborted;
    try {
      return await open(path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    if (isLastTry) return undefined;
    await clock.sleep(wait, ended);
  }
}

/** Every chunk is the same memory: take what you need before asking for the next. */
async function* readGrowing(file: FileHandle, ended: AbortSignal, clock: Clock): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let position = 0;
  let finalSize: number | undefined;
  let wait = FIRST_WAIT_MS;
  for (;;) {
    if (ended.aborted) finalSize ??= (await file.stat()).size;
    const wanted = Math.min(CHUNK_BYTES, (finalSize ?? Infinity) - position);
    const { bytesRead } = wanted > 0 ? await file.read(buffer, 0, wanted, position) : { bytesRead: 0 };
    if (bytesRead > 0) {
      position += bytesRead;
      wait = FIRST_WAIT_MS;
      yield buffer.subarray(0, bytesRead);
      continue;
    }
    if (finalSize !== undefined) return;
    // A program that opens /dev/stdout anew may have emptied the file; what it writes then starts at 0 again.
    if ((await file.stat()).size < position) position = 0;
    await clock.sleep(wait, ended);
    wait = longer(wait);
  }
}

function longer(wait: number): number {
  return Math.min(wait * 1.5, LONGEST_WAIT_MS);
}

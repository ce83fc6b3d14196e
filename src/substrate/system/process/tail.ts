import { fstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../ports/clock.ts';
import { untilBeat } from '../clock/beat.ts';
import type { OutputLine } from '../../ports/processes.ts';
import { openOutput } from '../files/packed-output.ts';
import { createLineSplitter } from './splitter.ts';

const CHUNK_BYTES = 64 * 1024;
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;
/** The lines of one turn delay timers, signals and other turns at most this long. */
const SLICE_MS = 10;

/** Limits on reading after the process has ended, so that it takes seconds at most, for any output and any use of its lines. */
interface AfterEnd {
  /** Read in order, from the next line. */
  readonly next: Most & { readonly ms: number };
  /** Read if `next` does not reach the end. The first lines announce the session, and the last ones have the verdict. */
  readonly last: Most;
}

interface Most {
  readonly lines: number;
  readonly bytes: number;
}

const MIB = 1024 * 1024;
const AFTER_END: AfterEnd = {
  next: { lines: 200_000, bytes: 64 * MIB, ms: 1500 },
  last: { lines: 2_000, bytes: 16 * MIB },
};

/**
 * The file need not exist yet, or is compressed. After `ended` aborts, reads at most `afterEnd` and not beyond the size that the file then has: an escaped
 * process may write without end. Reads the next chunk when all lines are taken.
 */
export async function* tailFile(
  path: string,
  ended: AbortSignal,
  clock: Clock,
  afterEnd: AfterEnd = AFTER_END,
): AsyncGenerator<OutputLine> {
  const file = await openWhenThere(path, ended, clock);
  if (file === undefined) return;
  try {
    yield* inSlices(readLines(file, ended, clock, afterEnd));
  } finally {
    await file.close();
  }
}

/** Yields to the event loop after each slice. */
async function* inSlices(batches: AsyncIterable<Iterable<OutputLine>>): AsyncGenerator<OutputLine> {
  let since = performance.now();
  for await (const lines of batches) {
    for (const line of lines) {
      yield line;
      if (performance.now() - since < SLICE_MS) continue;
      await setImmediate();
      since = performance.now();
    }
  }
}

interface Reading {
  readonly file: FileHandle;
  /** All chunks share this memory. A reader must copy what it needs before the next read. */
  readonly buffer: Buffer;
  position: number;
}

async function* readLines(
  file: FileHandle,
  ended: AbortSignal,
  clock: Clock,
  { next, last }: AfterEnd,
): AsyncGenerator<Iterable<OutputLine>> {
  const reading: Reading = { file, buffer: Buffer.allocUnsafeSlow(CHUNK_BYTES), position: 0 };
  let splitter = createLineSplitter();
  for await (const chunk of readGrowing(reading, ended, clock)) yield splitter.push(chunk);

  const { size } = await file.stat();
  const lastLines = await startOfLastLines(file, size, last);
  const budget = createBudget(next);
  for await (const chunk of readUntil(reading, Math.min(lastLines, reading.position + next.bytes))) {
    yield budget.counting(splitter.push(chunk));
    if (budget.isSpent()) break;
  }
  if (reading.position < lastLines) {
    yield [{ type: 'gap', bytes: lastLines - reading.position, offset: lastLines }];
    splitter = createLineSplitter(undefined, undefined, lastLines);
    reading.position = lastLines;
  }
  for await (const chunk of readUntil(reading, size)) yield splitter.push(chunk);
  yield splitter.end();
}

/** Counts the lines read, and the time including the caller's work on them. */
function createBudget({ lines: most, ms }: AfterEnd['next']) {
  const until = performance.now() + ms;
  let lines = 0;
  return {
    *counting(of: Iterable<OutputLine>): Generator<OutputLine> {
      for (const line of of) {
        lines += 1;
        yield line;
      }
    },
    isSpent: () => lines >= most || performance.now() >= until,
  };
}

async function openWhenThere(path: string, ended: AbortSignal, clock: Clock): Promise<FileHandle | undefined> {
  for (let wait = FIRST_WAIT_MS; ; wait = longer(wait)) {
    // Read before the attempt to open, so that a file created just before the end is found.
    const isLastTry = ended.aborted;
    try {
      return await openOutput(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    if (isLastTry) return undefined;
    await clock.sleep(wait, ended);
  }
}

/** Reads until the process ends, also past the current end of the file. */
async function* readGrowing(reading: Reading, ended: AbortSignal, clock: Clock): AsyncGenerator<Buffer> {
  for (let wait = FIRST_WAIT_MS; !ended.aborted; wait = longer(wait)) {
    // Synchronous: it takes microseconds, a look through the thread pool ten times as much, and most looks find nothing new.
    const { size } = fstatSync(reading.file.fd);
    // A program that opens /dev/stdout again may have emptied the file, and then writes from offset 0.
    if (size < reading.position) reading.position = 0;
    if (size > reading.position) {
      wait = FIRST_WAIT_MS;
      for await (const chunk of readUntil(reading, Infinity)) {
        yield chunk;
        if (ended.aborted) return;
      }
    }
    await clock.sleep(wait === LONGEST_WAIT_MS ? untilBeat(clock, wait) : wait, ended);
  }
}

async function* readUntil(reading: Reading, end: number): AsyncGenerator<Buffer> {
  const { file, buffer } = reading;
  while (reading.position < end) {
    const wanted = Math.min(CHUNK_BYTES, end - reading.position);
    const { bytesRead } = await file.read(buffer, 0, wanted, reading.position);
    if (bytesRead === 0) return;
    reading.position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function longer(wait: number): number {
  return Math.min(wait * 1.5, LONGEST_WAIT_MS);
}

const NEWLINE = 10;

/**
 * The offset of the last `lines` lines before `end`, or of the first whole line in the last `bytes` if that is later. Returns
 * `end` if no line begins in these bytes.
 */
export async function startOfLastLines(
  file: FileHandle,
  end: number,
  most: { readonly lines: number; readonly bytes: number },
): Promise<number> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const first = Math.max(0, end - most.bytes);
  let start = end;
  let lines = 0;
  for (let position = end; position > first;) {
    const length = Math.min(CHUNK_BYTES, position - first);
    position -= length;
    const { bytesRead } = await file.read(buffer, 0, length, position);
    const chunk = buffer.subarray(0, bytesRead);
    for (let at = chunk.lastIndexOf(NEWLINE); at >= 0; at = at === 0 ? -1 : chunk.lastIndexOf(NEWLINE, at - 1)) {
      // No line begins after a newline at the very end.
      if (position + at + 1 === end) continue;
      start = position + at + 1;
      lines += 1;
      if (lines === most.lines) return start;
    }
  }
  return first === 0 ? 0 : start;
}

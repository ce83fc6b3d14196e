import { readFileSync } from 'node:fs';
import { errorCode } from '../../model/storage-error.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Sums in the byte order of little-endian machines; one more: of big-endian ones. */
const MAGIC = 0x377f0682;
/** A log that another process writes looks torn for a moment. */
const LOOKS = 3;

/**
 * Damage in the middle of a write-ahead log (sqlite.org/fileformat2.html §4): SQLite takes the first frame that does not match its
 * sum for the end, and what was committed after it is lost without a word. A torn end, as a kill or a power cut leaves it, is none.
 */
export function logDamage(path: string): string | undefined {
  let found: string | undefined;
  for (let look = 0; look < LOOKS; look += 1) {
    const now = damageIn(readIfThere(`${path}-wal`));
    if (now === undefined || (look > 0 && now !== found)) return undefined;
    found = now;
  }
  return found;
}

function damageIn(log: Buffer): string | undefined {
  if (log.length <= HEADER_BYTES + FRAME_HEADER_BYTES) return undefined;
  const magic = log.readUInt32BE(0);
  const sum = [0, 0] as [number, number];
  addTo(sum, log, 0, 24, magic === MAGIC);
  const isHeader = (magic === MAGIC || magic === MAGIC + 1) && holds(log, 24, sum);
  // When SQLite begins a log anew, only its header is new; it is flushed before a frame follows.
  if (!isHeader) return 'the head of its log squad.db-wal is damaged';
  const page = log.readUInt32BE(8);
  const size = FRAME_HEADER_BYTES + page;
  let at = HEADER_BYTES;
  for (; at + size <= log.length; at += size) {
    if (!isOfLog(log, at)) break;
    addTo(sum, log, at, 8, magic === MAGIC);
    addTo(sum, log, at + FRAME_HEADER_BYTES, page, magic === MAGIC);
    if (!holds(log, at + 16, sum)) break;
  }
  return commitsAfter(log, at, size)
    ? `its log squad.db-wal is damaged at byte ${at}: later commits are lost`
    : undefined;
}

/** Whether a whole transaction is followed by another one: each is flushed before the next begins, so it was no torn end. */
function commitsAfter(log: Buffer, from: number, size: number): boolean {
  let isCommitted = false;
  for (let at = from; at + size <= log.length; at += size) {
    if (!isOfLog(log, at)) continue;
    if (isCommitted) return true;
    isCommitted = log.readUInt32BE(at + 4) !== 0;
  }
  return false;
}

/** With the salts of the header: not left by an earlier use of the file. */
function isOfLog(log: Buffer, frame: number): boolean {
  return log.compare(log, 16, 24, frame + 8, frame + 16) === 0;
}

function holds(log: Buffer, at: number, [first, second]: readonly [number, number]): boolean {
  return log.readUInt32BE(at) === first >>> 0 && log.readUInt32BE(at + 4) === second >>> 0;
}

function addTo(sum: [number, number], log: Buffer, from: number, bytes: number, isLittle: boolean): void {
  let [first, second] = sum;
  for (let at = from; at < from + bytes; at += 8) {
    first = (first + (isLittle ? log.readInt32LE(at) : log.readInt32BE(at)) + second) | 0;
    second = (second + (isLittle ? log.readInt32LE(at + 4) : log.readInt32BE(at + 4)) + first) | 0;
  }
  sum[0] = first;
  sum[1] = second;
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    // SQLite cannot read it either, and reports why.
    if (errorCode(error) === undefined) throw error;
    return Buffer.alloc(0);
  }
}

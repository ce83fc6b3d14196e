import { StringDecoder } from 'node:string_decoder';
import type { TextLine } from '../../ports/processes.ts';

/** Longer lines are cut, which bounds memory. No runtime writes more in one message. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** Bytes that are kept of a cut line. */
export const CUT_TEXT_BYTES = 64 * 1024;

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export interface LineSplitter {
  /**
   * The lines that these bytes complete, produced on demand. The caller must take all of them before the next chunk. How the
   * bytes are divided into chunks does not matter.
   */
  push(chunk: Buffer): Iterable<TextLine>;
  /** The rest after the last newline, if any. */
  end(): TextLine[];
}

/**
 * Splits at \n only (U+2028 and U+0085 are text; \r before \n is dropped). A character may span chunks; invalid UTF-8 becomes U+FFFD. Keeps
 * at most `maxLineBytes`. `firstByte`: offset of the first chunk in the file.
 */
export function createLineSplitter(
  maxLineBytes = MAX_LINE_BYTES,
  cutTextBytes = CUT_TEXT_BYTES,
  firstByte = 0,
): LineSplitter {
  let held: Buffer = Buffer.alloc(0);
  /** Kept bytes of the unfinished line, and its true length, which is larger if it will be cut. */
  let kept = 0;
  let length = 0;
  let offset = firstByte;

  function hold(bytes: Buffer): void {
    length += bytes.length;
    const bound = length > maxLineBytes ? cutTextBytes : maxLineBytes;
    kept = Math.min(kept, bound);
    const more = bytes.subarray(0, bound - kept);
    held = append(held, kept, more);
    kept += more.length;
    // Frees the memory of a long line as soon as it will be cut.
    if (length > maxLineBytes && held.length > cutTextBytes) held = Buffer.from(held.subarray(0, kept));
  }

  function take(last: Buffer, ending: 'line' | 'rest'): TextLine {
    const startsFile = offset === 0;
    const isHeld = length > 0;
    if (isHeld) hold(last);
    const bytes = isHeld ? held.subarray(0, kept) : last;
    const total = isHeld ? length : last.length;
    offset += total + (ending === 'line' ? 1 : 0);
    const line =
      total > maxLineBytes
        ? cutLine(bytes, total, offset, startsFile, cutTextBytes)
        : wholeLine(bytes, offset, startsFile, ending);
    kept = 0;
    length = 0;
    // Keeps the memory while long lines follow each other, and frees it after a short one.
    if (held.length > cutTextBytes && total < held.length / 4) held = Buffer.alloc(0);
    return line;
  }

  return {
    *push(chunk) {
      let start = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
        const line = take(chunk.subarray(start, at), 'line');
        start = at + 1;
        yield line;
      }
      if (start < chunk.length) hold(chunk.subarray(start));
    },
    end() {
      return length === 0 ? [] : [take(Buffer.alloc(0), 'rest')];
    },
  };
}

/** A byte order mark counts only at the start of a file. */
function withoutMark(bytes: Buffer, startsFile: boolean): Buffer {
  return startsFile && bytes.indexOf(BYTE_ORDER_MARK) === 0 ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

function wholeLine(bytes: Buffer, offset: number, startsFile: boolean, type: 'line' | 'rest'): TextLine {
  const body = withoutMark(bytes, startsFile);
  const end = type === 'line' && body.at(-1) === CARRIAGE_RETURN ? body.length - 1 : body.length;
  return { type, text: body.toString('utf8', 0, end), offset };
}

function cutLine(kept: Buffer, bytes: number, offset: number, startsFile: boolean, cutTextBytes: number): TextLine {
  const body = withoutMark(kept, startsFile);
  // The decoder leaves out a character that the cut went through.
  const text = new StringDecoder('utf8').write(body.subarray(0, cutTextBytes - (kept.length - body.length)));
  return { type: 'cut', text, bytes, offset };
}

/** Writes `bytes` after the first `used` of `buffer`, which doubles when full, so that a long line costs linear time. */
function append(buffer: Buffer, used: number, bytes: Buffer): Buffer {
  const needed = used + bytes.length;
  if (needed <= buffer.length) {
    bytes.copy(buffer, used);
    return buffer;
  }
  const grown = Buffer.allocUnsafeSlow(Math.max(needed, buffer.length * 2, 4096));
  buffer.copy(grown, 0, 0, used);
  bytes.copy(grown, used);
  return grown;
}

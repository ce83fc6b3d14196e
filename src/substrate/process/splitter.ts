import { StringDecoder } from 'node:string_decoder';
import type { TextLine } from '../ports/processes.ts';

/** Longer lines are cut: no runtime writes more in one message, and memory must stay bounded. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** What is kept of a line that was cut. */
export const CUT_TEXT_BYTES = 64 * 1024;

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export interface LineSplitter {
  /**
   * The lines completed by these bytes, produced on demand. The caller must take all of them before the next chunk. They do not
   * depend on how the bytes were cut into chunks.
   */
  push(chunk: Buffer): Iterable<TextLine>;
  /** What is left after the last newline, if anything. */
  end(): TextLine[];
}

/**
 * Splits bytes into lines at \n alone (U+2028 and U+0085 are text, \r before \n is dropped). Whole lines are decoded, so
 * a character may span chunks; bytes that are no UTF-8 become U+FFFD. Holds at most `maxLineBytes`. `firstByte`: where in the
 * file the first chunk begins.
 */
export function createLineSplitter(
  maxLineBytes = MAX_LINE_BYTES,
  cutTextBytes = CUT_TEXT_BYTES,
  firstByte = 0,
): LineSplitter {
  let held: Buffer = Buffer.alloc(0);
  /** Bytes of the unfinished line that are held, and its true length, which is more once it will be cut. */
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
    // A long line's memory goes back as soon as it is known that the line will be cut.
    if (length > maxLineBytes && held.length > cutTextBytes) held = Buffer.from(held.subarray(0, kept));
  }

  function take(last: Buffer, ending: 'line' | 'rest'): TextLine {
    const startsFile = offset === 0;
    const isHeld = length > 0;
    if (isHeld) hold(last);
    const bytes = isHeld ? held.subarray(0, kept) : last;
    const total = isHeld ? length : last.length;
    offset += total + (ending === 'line' ? 1 : 0);
    const line = makeLine(bytes, total, startsFile, ending);
    kept = 0;
    length = 0;
    // Kept while long lines follow each other; given back after a short one.
    if (held.length > cutTextBytes && total < held.length / 4) held = Buffer.alloc(0);
    return line;
  }

  function makeLine(bytes: Buffer, total: number, startsFile: boolean, ending: 'line' | 'rest'): TextLine {
    const body = startsFile && bytes.indexOf(BYTE_ORDER_MARK) === 0 ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
    if (total > maxLineBytes) {
      // The decoder leaves out a character that the cut went through.
      const text = new StringDecoder('utf8').write(body.subarray(0, cutTextBytes - (bytes.length - body.length)));
      return { type: 'cut', text, bytes: total, offset };
    }
    const end = ending === 'line' && body.at(-1) === CARRIAGE_RETURN ? body.length - 1 : body.length;
    return { type: ending, text: body.toString('utf8', 0, end), offset };
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

/** `bytes` written after the first `used` of `buffer`, which grows by doubling so that a long line costs linear time. */
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

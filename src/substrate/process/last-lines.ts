import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 10;

/**
 * The offset at which the last `lines` lines before `end` begin, or the first whole line of the last `bytes` if that is later.
 * Returns `end` if no line begins in these bytes.
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
      // The newline at the very end closes the last line. No line begins after it.
      if (position + at + 1 === end) continue;
      start = position + at + 1;
      lines += 1;
      if (lines === most.lines) return start;
    }
  }
  return first === 0 ? 0 : start;
}

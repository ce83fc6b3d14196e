import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A part of the archive: its name, and the file or text that is its content. */
export interface TarPart {
  readonly name: string;
  readonly bytes: number;
  readonly from: { readonly file: string } | { readonly text: string };
}

/** As it was found: `offset` of its content. */
export interface TarEntry {
  readonly name: string;
  readonly bytes: number;
  readonly offset: number;
}

const BLOCK = 512;
/** The archive ends with two empty blocks. */
const END = Buffer.alloc(2 * BLOCK);
/** Eleven octal digits. */
const MOST_BYTES = 0o77777777777;
const MOST_NAME = 99;
const NUL = '\0';

/**
 * Writes a tar archive of plain files in the form "ustar", which every tar reads. The same parts make the same bytes. Throws where a file
 * is not as long as its part says.
 */
export async function writeTar(path: string, parts: readonly TarPart[]): Promise<void> {
  const target = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  await pipeline(Readable.from(blocksOf(parts)), target);
}

async function* blocksOf(parts: readonly TarPart[]): AsyncGenerator<Uint8Array> {
  for (const { name, bytes, from } of parts) {
    yield headerOf(name, bytes);
    const content = 'text' in from ? [Buffer.from(from.text)] : createReadStream(from.file);
    let written = 0;
    for await (const chunk of content as AsyncIterable<Buffer>) {
      written += chunk.length;
      yield chunk;
    }
    if (written !== bytes) throw new Error(`${name} was changed while it was read`);
    yield Buffer.alloc(paddingOf(bytes));
  }
  yield END;
}

/** The only header that this module makes, and reads, for a name and a length. */
function headerOf(name: string, bytes: number): Buffer {
  if (name.length > MOST_NAME || bytes > MOST_BYTES) throw new RangeError(`${name} does not fit into a tar archive`);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 'latin1');
  // Mode, owner and group.
  header.write(`0000600${NUL}0000000${NUL}0000000${NUL}`, 100, 'latin1');
  header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  header.write('00000000000\0', 136, 'latin1');
  header.write(' '.repeat(8), 148, 'latin1');
  header.write('0', 156, 'latin1');
  header.write(`ustar${NUL}00`, 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

function paddingOf(bytes: number): number {
  return (BLOCK - (bytes % BLOCK)) % BLOCK;
}

/**
 * Lists an archive of `writeTar`. undefined: a byte of it is not as `writeTar` writes it, or it was cut short. The contents
 * themselves are not looked at.
 */
export async function readTar(file: FileHandle): Promise<TarEntry[] | undefined> {
  const { size } = await file.stat();
  const entries: TarEntry[] = [];
  let offset = 0;
  for (;;) {
    const header = await readAt(file, offset, BLOCK);
    if (header === undefined) return undefined;
    if (header.every((byte) => byte === 0)) break;
    const name = header.toString('latin1', 0, MOST_NAME).replace(/\0.*$/s, '');
    const digits = header.toString('latin1', 124, 135);
    if (!/^[0-7]{11}$/.test(digits) || name === '') return undefined;
    const bytes = Number.parseInt(digits, 8);
    const padding = paddingOf(bytes);
    const end = offset + BLOCK + bytes;
    if (end + padding > size || !header.equals(headerOf(name, bytes))) return undefined;
    const rest = await readAt(file, end, padding);
    if (rest?.every((byte) => byte === 0) !== true) return undefined;
    entries.push({ name, bytes, offset: offset + BLOCK });
    offset = end + padding;
  }
  const end = await readAt(file, offset, END.length);
  return end?.equals(END) === true && offset + END.length === size ? entries : undefined;
}

/** The content of a small entry. */
export async function readEntry(file: FileHandle, { offset, bytes }: TarEntry): Promise<Buffer | undefined> {
  return readAt(file, offset, bytes);
}

/** Writes the content of an entry to a new file. Returns its SHA-256. */
export async function extractEntry(path: string, { offset, bytes }: TarEntry, target: string): Promise<string> {
  const hash = createHash('sha256');
  const source = bytes === 0 ? Readable.from([]) : createReadStream(path, { start: offset, end: offset + bytes - 1 });
  const hashed = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(source, hashed, createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true }));
  return hash.digest('hex');
}

/** The SHA-256 and the length of a file. */
export async function hashFile(path: string): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await open(path, 'r');
  try {
    for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      hash.update(chunk);
    }
  } finally {
    await file.close();
  }
  return { sha256: hash.digest('hex'), bytes };
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer | undefined> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  return bytesRead === length ? buffer : undefined;
}

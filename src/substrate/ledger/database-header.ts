/** Facts in the first 100 bytes of a SQLite file (sqlite.org/fileformat2.html §1.3), read without SQLite touching it. */
export interface DatabaseHeader {
  readonly userVersion: number;
  readonly applicationId: number;
  /** Bytes the file should have, by its own header. The write-ahead log may know of more. */
  readonly bytes: number;
}

export const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';

/** undefined: not the header of a SQLite database. */
export function parseHeader(bytes: Buffer): DatabaseHeader | undefined {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, 16) !== MAGIC) return undefined;
  const stored = bytes.readUInt16BE(16);
  const pageSize = stored === 1 ? 65_536 : stored;
  return {
    userVersion: bytes.readInt32BE(60),
    applicationId: bytes.readInt32BE(68),
    bytes: pageSize * bytes.readUInt32BE(28),
  };
}

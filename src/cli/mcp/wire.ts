import type { Readable, Writable } from 'node:stream';

/** The two ends of the server's connection. */
export interface Wire {
  readonly input: Readable;
  readonly output: Writable;
  /** A longer line ends the server. */
  readonly mostLineBytes: number;
  readonly end: () => void;
  /** For the person who reads the log of the client. */
  readonly report: (problem: unknown) => void;
}

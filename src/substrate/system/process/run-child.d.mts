import type { Readable } from 'node:stream';

export interface ChildRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  /** Complete. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** A file that it reads as its standard input. */
  readonly input?: string | undefined;
}

export interface ChildAnswer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly problem?: string;
  /** False: when the program had exited, something else still held its output open. */
  readonly drained: boolean;
}

export function runChild(request: ChildRequest): Promise<ChildAnswer>;

export function eachLine(stream: Readable, onLine: (line: string) => void): void;

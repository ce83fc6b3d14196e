import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { hasPipes } from './pipes.ts';

/** A program that answers one request after the other on its standard output. */
export interface Conversation {
  /**
   * `endOf`: the length of the answer at the beginning of these bytes, or 0 while it is not complete. undefined: the program has
   * ended, or did not answer in time.
   */
  ask(request: string, endOf: (bytes: Buffer) => number): Promise<Buffer | undefined>;
  /** running, or how the program ended. */
  state(): 'running' | 'ended' | 'killed';
  close(): void;
}

/** A program that is silent for so long is ended, whether it was asked or not. */
const SILENCE_MS = 60_000;

/** Starts a program for a conversation. Only an open request keeps the engine alive, and the program ends with the engine. */
export function converse(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: Readonly<Record<string, string>> },
): Conversation {
  const child = spawn(command, args, { ...options, detached: true, stdio: ['pipe', 'pipe', 'ignore'] });
  const { stdin, stdout } = child;
  const waiting: { endOf: (bytes: Buffer) => number; resolve: (answer: Buffer | undefined) => void }[] = [];
  let bytes: Buffer = Buffer.alloc(0);
  let isOver = !hasPipes(child);
  const silence = setTimeout(() => child.kill('SIGKILL'), SILENCE_MS).unref();
  const end = (): void => {
    isOver = true;
    clearTimeout(silence);
    for (const { resolve } of waiting.splice(0)) resolve(undefined);
  };
  child.once('error', end).once('close', end).unref();
  const [input, output] = [stdin as Socket, stdout as Socket];
  for (const pipe of isOver ? [] : [input, output]) {
    // A broken pipe is an end, which `close` reports.
    pipe.on('error', () => undefined);
    pipe.unref();
  }
  if (!isOver)
    output.on('data', (more: Buffer) => {
      bytes = bytes.length === 0 ? more : Buffer.concat([bytes, more]);
      for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
        const length = first.endOf(bytes);
        if (length === 0) return;
        waiting.shift();
        first.resolve(bytes.subarray(0, length));
        bytes = bytes.subarray(length);
      }
      output.unref();
    });
  return {
    ask: async (request, endOf) => {
      if (isOver) return undefined;
      silence.refresh();
      output.ref();
      return new Promise((resolve) => {
        waiting.push({ endOf, resolve });
        input.write(request);
      });
    },
    state: () => (isOver ? (child.signalCode === null ? 'ended' : 'killed') : 'running'),
    close: () => child.stdin?.end(),
  };
}

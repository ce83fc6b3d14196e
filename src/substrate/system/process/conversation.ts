import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { ProgramKind } from '../../../model/programs.ts';
import { hasPipes } from './pipes.ts';

/** A program that answers one request after the other on its standard output. */
export interface Conversation {
  /**
   * `endOf`: the length of the answer at the beginning of these bytes, or 0 while it is not complete. undefined: the program has
   * ended, or did not answer in time.
   */
  ask(request: string | Buffer, endOf: (bytes: Buffer) => number): Promise<Buffer | undefined>;
  /** running, or how the program ended. */
  state(): 'running' | 'ended' | 'killed';
  /** The program's stderr up to a length; complete once it has ended. */
  complaint(): string;
  close(): void;
}

/** A program that is silent for so long is ended, whether it was asked or not. */
const SILENCE_MS = 60_000;
/** Most characters of `complaint`. */
const MOST_SAID = 4_096;

/**
 * Starts a program for a conversation. Only an open request keeps the engine alive, and it does so until the answer, or the end of
 * the program, is known. The program ends with the engine.
 */
export function converse(
  command: string,
  args: readonly string[],
  { cwd, env }: { kind: ProgramKind; cwd: string; env: Readonly<Record<string, string>> },
): Conversation {
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const waiting: { endOf: (bytes: Buffer) => number; resolve: (answer: Buffer | undefined) => void }[] = [];
  let bytes: Buffer = Buffer.alloc(0);
  let said = '';
  let isOver = !hasPipes(child);
  const pipes = isOver ? [] : [child.stdin, child.stdout, child.stderr].map((pipe) => pipe as Socket);
  const [input, output, errors] = pipes;
  const silence = setTimeout(() => {
    child.kill('SIGKILL');
    // A child of the program may hold its output open.
    for (const pipe of pipes) pipe.destroy();
  }, SILENCE_MS).unref();
  const end = (): void => {
    isOver = true;
    clearTimeout(silence);
    for (const { resolve } of waiting.splice(0)) resolve(undefined);
  };
  child.once('error', (error) => {
    said ||= error.message;
    end();
  });
  child.once('close', end);
  // Without these, Node would end between the last output of a program and the news of its end, with a question open.
  const keepAlive = (): void => [child, ...pipes].forEach((handle) => void handle.ref());
  const letGo = (): void => [child, ...pipes].forEach((handle) => void handle.unref());
  letGo();
  // A broken pipe is an end, which `close` reports.
  for (const pipe of pipes) pipe.on('error', () => undefined);
  errors?.on('data', (more: Buffer) => void (said = (said + more.toString()).slice(0, MOST_SAID)));
  output?.on('data', (more: Buffer) => {
    bytes = bytes.length === 0 ? more : Buffer.concat([bytes, more]);
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const length = first.endOf(bytes);
      if (length === 0) return;
      waiting.shift();
      first.resolve(bytes.subarray(0, length));
      bytes = bytes.subarray(length);
    }
    letGo();
  });
  return {
    ask: async (request, endOf) => {
      if (isOver) return undefined;
      silence.refresh();
      keepAlive();
      return new Promise((resolve) => {
        waiting.push({ endOf, resolve });
        input?.write(request);
      });
    },
    state: () => (isOver ? (child.signalCode === null ? 'ended' : 'killed') : 'running'),
    complaint: () => said,
    close: () => input?.end(),
  };
}

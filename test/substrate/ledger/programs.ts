import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Program {
  readonly child: ChildProcess;
  /** Everything it said so far. */
  readonly said: unknown[];
  /** Waits for the n-th line, from 1; undefined when it ended before. */
  line(number: number): Promise<unknown>;
  ended(): Promise<{ code: number | null; signal: string | null }>;
  kill(): Promise<unknown>;
}

/** Starts a program of test/fixtures/ledger on this very Node. */
export function startProgram(name: string, args: readonly string[], nodeOptions: readonly string[] = []): Program {
  const path = join(import.meta.dirname, '../../fixtures/ledger', `${name}.ts`);
  const child = spawn(process.execPath, [...nodeOptions, path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Half of what a start costs is the sources.
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: join(tmpdir(), 'squad-test-compile-cache') },
  });
  const said: unknown[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    said.push(...lines.map((line) => JSON.parse(line) as unknown));
    child.emit('said');
  });
  // `close`, not `exit`: everything it said has then been read.
  const closed = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }));
  return {
    child,
    said,
    line: async (number) => {
      const over = closed.then(() => true);
      while (said.length < number) {
        if ((await Promise.race([once(child, 'said'), over])) === true) break;
      }
      return said[number - 1];
    },
    ended: () => closed,
    kill: () => {
      child.kill('SIGKILL');
      return closed;
    },
  };
}

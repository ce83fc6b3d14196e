import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';

/** A pager that shows text at this process's terminal. */
export interface Pager {
  /** Resolves once the pager can take more. false: it has ended. */
  write(text: string): Promise<boolean>;
  /** Waits until the person has left the pager. */
  close(): Promise<void>;
}

/** undefined: the program cannot be started. While it runs, Ctrl-C is for the pager. */
export async function openPager(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Pager | undefined> {
  const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'], env });
  const started = await new Promise<boolean>((resolve) => {
    child.once('spawn', () => resolve(true)).once('error', () => resolve(false));
  });
  const { stdin } = child;
  if (!started || !(stdin instanceof Socket)) return undefined;
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  let open = true;
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      open = false;
      process.off('SIGINT', ignore);
      resolve();
    });
  });
  // A pager that was left early; `write` says so.
  stdin.on('error', () => {
    open = false;
  });
  return {
    write: async (text) => {
      if (open && !stdin.write(text)) await Promise.race([once(stdin, 'drain').catch(ignore), ended]);
      return open;
    },
    close: async () => {
      stdin.end();
      await ended;
    },
  };
}

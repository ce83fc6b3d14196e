import { spawn } from 'node:child_process';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A program in a session of its own, which outlives this process and its terminal. */
export interface DetachedProgram {
  readonly pid: number | undefined;
  /** How it ended, or why it did not start. Does not keep this process alive. */
  readonly ended: Promise<{ readonly code: number | null; readonly problem?: string }>;
  /** Does nothing once it has ended. */
  signal(name: NodeJS.Signals): void;
}

/** Starts it without input. Its output goes to an open file. */
export function startDetached(
  [program = '', ...args]: readonly string[],
  options: {
    readonly cwd: string;
    readonly environment: Readonly<Record<string, string | undefined>>;
    /** Descriptor of the file. */
    readonly output: number;
  },
): DetachedProgram {
  const { cwd, environment, output } = options;
  const child = spawn(program, args, { cwd, env: environment, detached: true, stdio: ['ignore', output, output] });
  child.unref();
  const ended = new Promise<{ code: number | null; problem?: string }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, problem: error.message }));
    child.once('exit', (code) => resolve({ code }));
  });
  return { pid: child.pid, ended, signal: (name) => void child.kill(name) };
}

/** As `startDetached`. Its output goes to a new file; the file that was there is kept as `<log>.1`. */
export async function startLogged(
  command: readonly string[],
  place: Omit<Parameters<typeof startDetached>[1], 'output'>,
  log: string,
): Promise<DetachedProgram> {
  await mkdir(dirname(log), { recursive: true, mode: 0o700 });
  await rename(log, `${log}.1`).catch(() => undefined);
  const file = await open(log, 'w', 0o600);
  try {
    return startDetached(command, { ...place, output: file.fd });
  } finally {
    await file.close();
  }
}

import { spawn } from 'node:child_process';

/** A program in a session of its own that learns by the end of its input that this process is gone. */
export interface AttachedProgram {
  readonly pid: number | undefined;
  /** A line on its standard input. Lost once it has ended. */
  write(line: string): void;
  /** How it ended, or why it did not start. */
  readonly ended: Promise<{ readonly code: number | null; readonly problem?: string }>;
  kill(): void;
}

/** Starts it; `onLine` gets each line that it prints, of both outputs. Ctrl-C at the terminal of this process does not reach it. */
export function startAttached(
  [program = '', ...args]: readonly string[],
  place: {
    readonly cwd: string;
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly onLine: (line: string) => void;
  },
): AttachedProgram {
  const { cwd, environment, onLine } = place;
  const child = spawn(program, args, { cwd, env: environment, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  for (const output of [child.stdout, child.stderr]) followLines(output, onLine);
  // A program that has ended reads nothing, which `ended` reports.
  child.stdin.on('error', () => undefined);
  const ended = new Promise<{ code: number | null; problem?: string }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, problem: error.message }));
    child.once('close', (code) => resolve({ code }));
  });
  return {
    pid: child.pid,
    write: (line) => void (child.stdin.writable && child.stdin.write(`${line}\n`)),
    ended,
    kill: () => void child.kill('SIGKILL'),
  };
}

/** More of one line is cut. */
const LONGEST = 16_384;

function followLines(output: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = '';
  output.setEncoding('utf8');
  output.on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = (lines.pop() ?? '').slice(0, LONGEST);
    for (const line of lines) onLine(line.slice(0, LONGEST));
  });
  output.on('end', () => {
    if (rest !== '') onLine(rest);
  });
}

import { spawn } from 'node:child_process';

/**
 * Runs a program in the terminal that this process has, until it ends; what is typed is the program's, Ctrl-C too. Never
 * rejects: `problem` says why it could not be run.
 */
export async function runInTerminal(
  [program = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly code: number | null; readonly problem?: string }> {
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    return await new Promise((resolve) => {
      const child = spawn(program, args, { stdio: 'inherit', env: environment });
      child.once('error', (error) => resolve({ code: null, problem: error.message }));
      child.once('exit', (code) => resolve({ code }));
    });
  } finally {
    process.off('SIGINT', ignore);
  }
}

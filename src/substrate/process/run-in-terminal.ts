import { spawn } from 'node:child_process';
import type { ProgramKind } from '../../model/programs.ts';

/**
 * Runs a program in this process's terminal until it ends. The program gets all input, including Ctrl-C. Never rejects;
 * `problem` says why the program could not run.
 */
export async function runInTerminal(
  [program = '', ...args]: readonly string[],
  { environment }: { kind: ProgramKind; environment: Readonly<Record<string, string | undefined>> },
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

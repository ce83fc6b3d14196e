import type { ProgramKind } from '../../../model/programs.ts';

/**
 * Runs a program in this process's terminal until it ends. The program gets all input, including Ctrl-C. Never rejects;
 * `problem` says why the program could not run.
 */
export async function runInTerminal(
  [program = '', ...args]: readonly string[],
  { environment }: { kind: ProgramKind; environment: Readonly<Record<string, string | undefined>> },
): Promise<{ readonly code: number | null; readonly problem?: string }> {
  const { execa } = await import('execa');
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    const options = { stdio: 'inherit', env: environment, extendEnv: false, reject: false } as const;
    const { exitCode, signal, originalMessage } = await execa(program, args, options);
    const code = exitCode ?? null;
    return code === null && signal === undefined ? { code, problem: originalMessage ?? 'it did not start' } : { code };
  } finally {
    process.off('SIGINT', ignore);
  }
}

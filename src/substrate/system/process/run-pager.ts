/**
 * Shows lines with a pager at this process's terminal, until the person has left it. While it runs, Ctrl-C is for the pager.
 * false: the program cannot be started, and no line was read.
 */
export async function runPager(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<boolean> {
  const { execa } = await import('execa');
  const started = Promise.withResolvers<boolean>();
  const input = async function* (): AsyncGenerator<string> {
    if (await started.promise) yield* lines;
  };
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    const pager = execa(program, args, {
      ...{ stdin: input(), stdout: 'inherit', stderr: 'inherit' },
      ...{ env, extendEnv: false, reject: false },
    });
    started.resolve(pager.pid !== undefined);
    await pager;
    return await started.promise;
  } finally {
    process.off('SIGINT', ignore);
  }
}

import { stampOf } from './watched-files.ts';

/** Has the limits of all runs recorded at the first call, and again once one of the files that name them has changed. */
export function limitsNow(
  files: readonly string[],
  record: () => Promise<string | undefined>,
  say: (text: string) => void,
): () => Promise<void> {
  let stamp: string | undefined;
  return async () => {
    const now = stampOf(files);
    if (now === stamp) return;
    stamp = now;
    const problem = await record();
    if (problem !== undefined) say(problem);
  };
}

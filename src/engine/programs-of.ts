import { stat } from 'node:fs/promises';
import { realPath } from '../substrate/system/files/real-path.ts';
import { findProgram } from '../runtimes/shared/find-program.ts';
import type { Host } from './compose.ts';

const MOST_WORDS = 20;

/**
 * The machine, and the programs that a command names, as they are now: another version of one is another file. Node is one of them, because
 * package managers start it.
 */
export async function programsOf(
  { environment, platform, architecture }: Pick<Host, 'environment' | 'platform' | 'architecture'>,
  command: string,
): Promise<readonly string[]> {
  const words = new Set(['node', ...command.split(/[\s;&|()]+/).filter((word) => /^[A-Za-z][\w.-]*$/.test(word))]);
  const found = await Promise.all(
    [...words].slice(0, MOST_WORDS).map(async (name) => identityOf(environment['PATH'], name)),
  );
  return [platform, architecture, ...found.flat()];
}

async function identityOf(path: string | undefined, name: string): Promise<string[]> {
  const place = await findProgram(path, name);
  if (place === undefined) return [];
  const real = realPath(place) ?? place;
  const { size, mtimeMs } = await stat(real);
  return [`${name} ${real} ${size} ${mtimeMs}`];
}

import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import { armFailpoints } from '../../../../src/substrate/system/failpoint.ts';
import { openLife, playLife } from './life.ts';

export const LIFE_CHILD = fileURLToPath(import.meta.url);

const SYNC = ['renameSync', 'mkdirSync', 'writeFileSync', 'rmSync', 'chmodSync', 'utimesSync'];
const ASYNC = ['rename', 'mkdir', 'writeFile', 'rm', 'rmdir', 'unlink', 'copyFile', 'cp', 'chmod', 'utimes', 'link'];

/** Kills this process before its n-th change of the file system, whatever that is. Returns how many there were. */
function dieBefore(nth: number): () => number {
  let steps = 0;
  const guard = (where: Record<string, unknown>, names: readonly string[]): void => {
    for (const name of names) {
      const real = where[name] as (...all: unknown[]) => unknown;
      where[name] = (...all: unknown[]) => {
        steps += 1;
        if (steps === nth) process.kill(process.pid, 'SIGKILL');
        return real(...all);
      };
    }
  };
  guard(fs, SYNC);
  guard(promises, ASYNC);
  syncBuiltinESMExports();
  return () => steps;
}

/** One run, as an engine that may be killed. Prints a line when it begins. */
async function main(): Promise<void> {
  const [, , root = '', record = '', failpoints = '', step = '0'] = process.argv;
  const life = await openLife({ root, record });
  armFailpoints(failpoints);
  const steps = dieBefore(Number(step));
  process.stdout.write('begins\n');
  await playLife(life);
  process.stdout.write(`${steps()} steps\n`);
  await life.workspaces.close();
}

if (process.argv[1] === LIFE_CHILD) await main();

import { fileURLToPath } from 'node:url';
import { armFailpoints } from '../../../../src/substrate/system/failpoint.ts';
import { openBenchAt } from './originals-bench.ts';

export const REUSE_CHILD = fileURLToPath(import.meta.url);

/** Makes, keeps and puts it, as an engine that is killed on the way. */
async function main(): Promise<void> {
  const bench = await openBenchAt(process.argv[2] ?? '');
  armFailpoints(process.argv[3] ?? '');
  for (const task of ['one', 'two']) await bench.reuse(await bench.folder(task));
}

if (process.argv[1] === REUSE_CHILD) await main();

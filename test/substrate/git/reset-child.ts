import { fileURLToPath } from 'node:url';
import { armFailpoints } from '../../../src/substrate/system/failpoint.ts';
import { benchOver } from './bench.ts';

export const RESET_CHILD = fileURLToPath(import.meta.url);

/** One reset by an engine of its own, which a failpoint kills. */
async function main(): Promise<void> {
  const [, , root = '', repository = '', commit = '', failpoints = ''] = process.argv;
  const { workspaces } = await benchOver(root, repository);
  const folder = await workspaces.addFolder({ run: 'run', task: 'task', commit });
  armFailpoints(failpoints);
  await workspaces.resetFolder(folder, { commit, attempt: 'task-2', rescueAs: 'kept' });
}

if (process.argv[1] === RESET_CHILD) await main();

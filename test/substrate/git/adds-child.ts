import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { armFailpoints } from '../../../src/substrate/system/failpoint.ts';
import { createGitWorkspaces } from '../../../src/substrate/git/git-workspaces.ts';
import { inspectRepository } from '../../../src/substrate/git/inspect-repository.ts';
import { portsIn } from './bench.ts';

export const ADDS_CHILD = fileURLToPath(import.meta.url);

/** An engine of its own that adds `count` worktrees to a run, all at once: `one`, `two-2`, `two-3` and so on. */
async function main(): Promise<void> {
  const [, , root = '', repository = '', commit = '', run = '', count = '1', failpoints = '', state] = process.argv;
  const ports = { ...portsIn(root), ...(state === undefined ? {} : { runsDirectory: join(root, state) }) };
  const workspaces = createGitWorkspaces(ports, await inspectRepository(ports, repository));
  armFailpoints(failpoints);
  const tasks = Array.from({ length: Number(count) }, (_, index) => (index === 0 ? 'one' : `two-${index + 1}`));
  await Promise.all(tasks.map(async (task) => workspaces.addFolder({ run, task, commit })));
  await workspaces.close();
}

if (process.argv[1] === ADDS_CHILD) await main();

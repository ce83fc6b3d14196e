import { fileURLToPath } from 'node:url';
import { armFailpoints } from '../../../src/substrate/system/failpoint.ts';
import { findBranch, mergeIntoBranch } from '../../../src/substrate/git/merge-into-branch.ts';
import { mergeIntoCheckout } from '../../../src/substrate/git/merge-checkout.ts';
import { openRepository } from '../../../src/substrate/git/repository.ts';
import { portsIn } from './bench.ts';

export const MERGE_CHILD = fileURLToPath(import.meta.url);

/** A `squad merge` in a process of its own, which its test kills at a failpoint. */
async function main(): Promise<void> {
  const [, , root = '', repository = '', commit = '', failpoints = '', into = ''] = process.argv;
  const ports = portsIn(root);
  armFailpoints(failpoints);
  const checkout = await openRepository(ports, repository);
  const mayStay = (path: string): boolean => path.startsWith('folder/');
  const order = { run: 'work', commit, message: 'merge', mayStay };
  if (into === '') return void (await mergeIntoCheckout(ports, { ...checkout, branch: checkout.branch ?? '' }, order));
  const { head = '' } = (await findBranch(ports, checkout, into)) ?? {};
  await mergeIntoBranch(ports, checkout, { branch: into, head }, order);
}

if (process.argv[1] === MERGE_CHILD) await main();

import { fileURLToPath } from 'node:url';
import { armFailpoints } from '../../../src/substrate/system/failpoint.ts';
import { mergeIntoCheckout } from '../../../src/substrate/git/merge-checkout.ts';
import { openRepository } from '../../../src/substrate/git/repository.ts';
import { portsIn } from './bench.ts';

export const MERGE_CHILD = fileURLToPath(import.meta.url);

/** A `squad merge` in a process of its own, which its test kills at a failpoint. */
async function main(): Promise<void> {
  const [, , root = '', repository = '', commit = '', failpoints = ''] = process.argv;
  const ports = portsIn(root);
  armFailpoints(failpoints);
  const checkout = await openRepository(ports, repository);
  await mergeIntoCheckout(
    ports,
    { ...checkout, branch: checkout.branch ?? '' },
    { run: 'work', commit, message: 'merge', mayStay: (path) => path.startsWith('folder/') },
  );
}

if (process.argv[1] === MERGE_CHILD) await main();

import { basename, dirname, join } from 'node:path';
import { bindState, findState } from '../../src/substrate/system/files/state-place.ts';

/** The folder with the ledger of a test's repository; nothing is there if nothing ran yet. Its state folder is next to it, or `home`. */
export function stateOf(repository: string, home = join(dirname(repository), 'state')): string {
  return findState(join(home, 'squad'), join(repository, '.git')).directory;
}

/** The same, bound to the repository: a test writes there before squad does. */
export function newStateOf(repository: string): string {
  const home = join(dirname(repository), 'state', 'squad');
  return bindState(home, join(repository, '.git'), basename(repository)).directory;
}

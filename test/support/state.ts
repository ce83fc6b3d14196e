import { basename, dirname, join } from 'node:path';
import { bindState, findState } from '../../src/substrate/system/files/state-place.ts';

/** The folder with the ledger of a test's repository; nothing is there if nothing ran yet. Its state folder is next to it. */
export function stateOf(repository: string): string {
  return findState(stateFolder(repository), join(repository, '.git')).directory;
}

/** The same, bound to the repository: a test writes there before squad does. */
export function newStateOf(repository: string): string {
  return bindState(stateFolder(repository), join(repository, '.git'), basename(repository)).directory;
}

function stateFolder(repository: string): string {
  return join(dirname(repository), 'state', 'squad');
}

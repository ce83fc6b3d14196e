import { sha256Of } from '../../model/sha256.ts';

/** Hash of a set of commands. Order and repetition do not matter; every character does. */
export function trustHash(commands: readonly string[]): string {
  const content = JSON.stringify(['squad-trust-1', ...[...new Set(commands)].sort()]);
  return sha256Of(content);
}

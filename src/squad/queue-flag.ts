import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/* A file that is there while runs are in the queue, or came through it and are not over. Only the ledger says which. */

function flagIn(directory: string): string {
  return join(directory, 'queued');
}

/** So that an engine need not open the ledger to learn that nothing waits. */
export function isQueueFlagged(directory: string): boolean {
  return existsSync(flagIn(directory));
}

export function flagQueue(directory: string): void {
  writeFileSync(flagIn(directory), '', { mode: 0o600 });
}

export function unflagQueue(directory: string): void {
  rmSync(flagIn(directory), { force: true });
}

// @module-tag all
import { it } from 'vitest';
import { addAtOnce } from './git-faults.ts';

it('T17 24 worktrees added at once by three engines: none fails', { timeout: 300_000 }, async () => {
  await addAtOnce({ engines: 3, each: 8 });
});

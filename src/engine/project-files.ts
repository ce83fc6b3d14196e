import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createView } from '../graph/decisions/view.ts';
import type { Playbook } from '../model/plan.ts';
import type { Board } from '../model/plan/board.ts';
import { storageError } from '../model/storage-error.ts';
import { confine, pathProblem } from '../substrate/files/confine.ts';

/**
 * The readable files that a playbook keeps (a history, a backlog), below one folder: each whole or not at all, and only when
 * it has changed. They are for people: nothing is ever read back from them.
 */
export function createProjection(folder: string, playbook: Pick<Playbook<unknown>, 'files'>): (board: Board) => void {
  const written = new Map<string, string>();
  return (board) => {
    for (const { path, text } of playbook.files?.(createView(board)) ?? []) {
      if (written.get(path) === text || pathProblem(path) !== undefined) continue;
      const target = confine(folder, path);
      try {
        mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
        writeFileSync(`${target}.new`, text, { mode: 0o600 });
        renameSync(`${target}.new`, target);
      } catch (error) {
        throw storageError(target, error);
      }
      written.set(path, text);
    }
  };
}

import { createView } from '../graph/decisions/view.ts';
import type { Playbook } from '../model/plan.ts';
import type { Board } from '../model/plan/board.ts';
import { confine, pathProblem } from '../substrate/files/confine.ts';
import { writeWhole } from '../substrate/files/run-files.ts';

/**
 * Returns a function that writes the playbook's files for people (a history, a backlog) below one folder, each atomically and only
 * if it has changed. squad never reads them back.
 */
export function createProjection(folder: string, playbook: Pick<Playbook<unknown>, 'files'>): (board: Board) => void {
  const written = new Map<string, string>();
  return (board) => {
    for (const { path, text } of playbook.files?.(createView(board)) ?? []) {
      if (written.get(path) === text || pathProblem(path) !== undefined) continue;
      writeWhole(confine(folder, path), text);
      written.set(path, text);
    }
  };
}

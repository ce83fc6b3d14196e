import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createView } from '../graph/decisions/view.ts';
import type { Playbook } from '../model/plan.ts';
import type { Board } from '../model/plan/board.ts';
import { storageError } from '../model/storage-error.ts';
import { confine, pathProblem } from '../substrate/files/confine.ts';

/** `.squad/runs/<run id>/`: files for people. */
export function runFolder(directory: string, runId: string): string {
  return join(directory, 'runs', runId);
}

export function writeRunFile(directory: string, runId: string, name: string, text: string): string {
  const path = join(runFolder(directory, runId), name);
  writeWhole(path, text);
  return path;
}

/** Replaces the file in one step, so that no reader sees a part of it. */
function writeWhole(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw storageError(path, error);
  }
}

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

import type { Board, TaskState } from '../../../model/plan/board.ts';
import { fileNames } from '../../../text/file-name.ts';
import { plainJsonText } from '../../../text/plain-text.ts';
import type { RunFile } from './run-file.ts';

/** A document with this name gets another one. */
export const INDEX = 'index.json';

/** A document that a task has delivered. */
export interface DeliveredDocument {
  /** File name of its copy in `artifacts/`. */
  readonly name: string;
  /** null: the run has no stages, or this task is in none. */
  readonly stage: string | null;
  readonly task: string;
  /** Path in the repository. */
  readonly path: string;
  readonly commit: string;
}

/** A copy of its bytes as they were delivered. */
export interface CopiedDocument extends DeliveredDocument {
  readonly sha256: string;
  readonly bytes: number;
}

/** In the order of the plan. If two tasks deliver the same document, the later one's counts. */
export function deliveredDocuments(
  board: Pick<Board, 'tasks'>,
  stageOf: (task: string) => string | undefined,
): DeliveredDocument[] {
  const made = [...board.tasks.values()].toSorted((a, b) => a.order - b.order).flatMap(documentsOf);
  const paths = [...new Set(made.map(({ path }) => path))];
  // A document keeps its name whatever is delivered when.
  const [, ...names] = fileNames([INDEX, ...paths.map((path) => path.slice(path.lastIndexOf('/') + 1))]);
  return paths.flatMap((path, index) => {
    const last = made.findLast((one) => one.path === path && one.commit !== undefined);
    if (last?.commit === undefined) return [];
    const { task, commit } = last;
    return [{ name: names[index] ?? '', stage: stageOf(task) ?? null, task, path, commit }];
  });
}

function documentsOf({ task, work }: TaskState): { path: string; task: string; commit: string | undefined }[] {
  const isDelivered = work.phase.at === 'ended' && work.phase.as === 'done';
  const commit = isDelivered && work.commit !== null ? work.commit : undefined;
  return task.requires.flatMap((one) => (one.kind === 'document' ? [{ path: one.path, task: task.id, commit }] : []));
}

/** `artifacts/index.json`: where each copy is from. */
export function indexFile(copies: readonly CopiedDocument[]): RunFile {
  const rows = copies.map(({ name: file, stage, task, path, commit, sha256, bytes }) => {
    return { file, stage, task, path, commit, sha256, bytes };
  });
  return { path: `artifacts/${INDEX}`, text: `${plainJsonText(rows, 2)}\n` };
}

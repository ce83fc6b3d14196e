import type { Composition } from '../compose.ts';
import { errorText } from '../../model/errors.ts';
import type { Board } from '../../model/plan/board.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { RunState } from '../../model/run-state.ts';
import type { KeepsFolder } from '../../model/folder.ts';
import { letThroughBy } from '../../model/let-through.ts';
import type { RunFile } from '../../view/report/files/run-file.ts';
import { join } from 'node:path';
import { removeUnfinished, runFolder } from '../../substrate/system/files/run-files.ts';
import { writtenFolder, type WrittenFolder } from '../../substrate/system/files/written-folder.ts';
import { folderSink, type FolderPorts } from './folder-sink.ts';
import { createProjector, type ProjectedRun, type ProjectorPorts } from './project-files.ts';

/** A burst of steps is one rewriting. */
const REST_MS = 200;

/** The hash log of the files that squad wrote into the folder that the run was started on. */
const HASHES = 'folder.jsonl';

/**
 * The files for people in `runs/<run id>/` of the state, and those of the folder that the run was started on, by the ledger. squad never
 * reads them back.
 */
export interface RunFiles {
  /** The plan has moved on. Writes what that changes in the background, after the step that calls. */
  changed(board: Board): void;
  /**
   * Stops the writing in the background, and writes what is left of the folder that the run was started on. Returns why its files
   * are not complete; null: they are; undefined: there was nothing to write. Safe to repeat. Never throws.
   */
  endFolder(state: RunState): Promise<string | null | undefined>;
  /** Like `endFolder`, and also writes the run's own files and `more`. Safe to repeat. Never throws: a failed write is a warning. */
  end(state: RunState, more?: readonly RunFile[]): Promise<void>;
}

interface RunFilesPorts extends ProjectorPorts, Pick<Composition, 'clock' | 'redactor'> {
  readonly ledger: ProjectorPorts['ledger'] & FolderPorts['ledger'];
  /** Absent: the run leaves the folder that it was started on as it is, or was started on none. */
  readonly keeps?: KeepsFolder | undefined;
  warn(text: string): void;
}

/** A resume makes them anew: what is there and the same is left alone. `directory`: that of the ledger. */
export function createRunFiles(ports: RunFilesPorts, directory: string, of: ProjectedRun): RunFiles {
  const writers = createWriters(ports, directory, of);
  const ended = new AbortController();
  let board: Board | undefined;
  let isBehind = false;
  let isOver = false;
  let working: Promise<void> | undefined;
  let left: Promise<string | null | undefined> | undefined;
  const catchUp = async (): Promise<void> => {
    while (isBehind && !ended.signal.aborted) {
      await ports.clock.sleep(REST_MS, ended.signal);
      if (ended.signal.aborted) break;
      isBehind = false;
      await writers.named(board, 'running');
      await writers.own(board, 'running');
    }
    working = undefined;
  };
  const endFolder: RunFiles['endFolder'] = async (state) => {
    ended.abort();
    left ??= (working ?? Promise.resolve()).then(async () => writers.named(board, state));
    return left;
  };
  return {
    endFolder,
    changed: (next) => {
      board = next;
      isBehind = true;
      if (!ended.signal.aborted) working ??= catchUp();
    },
    end: async (state, more) => {
      if (isOver) return;
      isOver = true;
      await endFolder(state);
      await writers.own(board, state, more);
    },
  };
}

/** `named` writes the folder that the run was started on and returns as `endFolder`; `own` writes the run's folder. Neither throws. */
function createWriters(ports: RunFilesPorts, directory: string, of: ProjectedRun) {
  const { runId } = of.lease;
  const { folder: named, name } = of.definition;
  const path = runFolder(directory, runId);
  const folder = writtenFolder(path);
  const redactor = ports.redactor(letThroughBy(of.definition));
  const project = createProjector(ports, of, withoutSecrets(folder, redactor));
  const { keeps } = ports;
  const about = { runId, name, hashes: join(path, HASHES) };
  const theirs = named && keeps && folderSink({ ...ports, redactor }, { ...about, folder: named, keeps });
  let isClean = false;
  const warned = new Set<string>();
  const attempt = async (where: string, work: () => Promise<void>, next = ''): Promise<string | null> => {
    try {
      await work();
      return null;
    } catch (error) {
      const problem = errorText(error);
      if (!warned.has(where)) ports.warn(`the files in ${where} are not complete: ${problem}${next}`);
      warned.add(where);
      return problem;
    }
  };
  return {
    named: async (board: Board | undefined, state: RunState): Promise<string | null | undefined> => {
      if (!theirs || board === undefined) return undefined;
      const write = async (): Promise<void> => theirs.write({ board, state });
      if (state === 'running') return attempt(theirs.folder, write);
      // A file that is not there now stays so until a resume.
      warned.delete(theirs.folder);
      return attempt(theirs.folder, write, `. ${theirs.next}`);
    },
    own: async (board: Board | undefined, state: RunState, more: readonly RunFile[] = []): Promise<void> => {
      await attempt(path, async () => {
        if (!isClean) await removeUnfinished(path);
        isClean = true;
        if (board !== undefined) await project({ board, state });
      });
      // One at a time: a failed write must not cost the rest of the report.
      for (const file of more) await attempt(path, async () => folder.put(file.path, file.text));
    },
  };
}

/** The bytes of documents stay as they were delivered. */
function withoutSecrets(folder: WrittenFolder, redactor: Redactor): WrittenFolder {
  const put: WrittenFolder['put'] = async (path, content) =>
    folder.put(path, typeof content === 'string' ? redactor.text(content) : content);
  return { ...folder, put };
}

import type { Composition } from '../compose.ts';
import { errorText } from '../model/errors.ts';
import type { Board } from '../model/plan/board.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import type { RunState } from '../model/run-state.ts';
import { letThroughBy } from '../model/let-through.ts';
import type { RunFile } from '../report/files/run-file.ts';
import { removeUnfinished, runFolder } from '../substrate/files/run-files.ts';
import { writtenFolder, type WrittenFolder } from '../substrate/files/written-folder.ts';
import { createProjector, type ProjectedRun, type ProjectorPorts } from './project-files.ts';

/** A burst of steps is one rewriting. */
const REST_MS = 200;

/** The files for people in `.squad/runs/<run id>/`, by the ledger. squad never reads them back. */
export interface RunFiles {
  /** The plan has moved on. Writes what that changes in the background, after the step that calls. */
  changed(board: Board): void;
  /** Writes what is left, and these, and stops. Safe to repeat. Never throws: what cannot be written is a warning. */
  end(state: RunState, more?: readonly RunFile[]): Promise<void>;
}

interface RunFilesPorts extends ProjectorPorts, Pick<Composition, 'clock' | 'redactor'> {
  warn(text: string): void;
}

/** A resume makes them anew: what is there and the same is left alone. `directory`: `.squad`. */
export function createRunFiles(ports: RunFilesPorts, directory: string, of: ProjectedRun): RunFiles {
  const path = runFolder(directory, of.lease.runId);
  const folder = writtenFolder(path);
  const project = createProjector(ports, of, withoutSecrets(folder, ports.redactor(letThroughBy(of.definition))));
  const ended = new AbortController();
  let board: Board | undefined;
  let isBehind = false;
  let isClean = false;
  let hasWarned = false;
  let working: Promise<void> | undefined;

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!hasWarned) ports.warn(`the files in ${path} are not complete: ${errorText(error)}`);
      hasWarned = true;
    }
  };
  const write = async (state: RunState, more: readonly RunFile[] = []): Promise<void> => {
    await attempt(async () => {
      if (!isClean) await removeUnfinished(path);
      isClean = true;
      if (board !== undefined) await project({ board, state });
    });
    // What cannot be written must not cost the report.
    for (const file of more) await attempt(async () => folder.put(file.path, file.text));
  };
  const catchUp = async (): Promise<void> => {
    while (isBehind && !ended.signal.aborted) {
      await ports.clock.sleep(REST_MS, ended.signal);
      if (ended.signal.aborted) break;
      isBehind = false;
      await write('running');
    }
    working = undefined;
  };
  return {
    changed: (next) => {
      board = next;
      isBehind = true;
      if (!ended.signal.aborted) working ??= catchUp();
    },
    end: async (state, more) => {
      if (ended.signal.aborted) return;
      ended.abort();
      await working;
      await write(state, more);
    },
  };
}

/** The bytes of documents stay as they were delivered. */
function withoutSecrets(folder: WrittenFolder, redactor: Redactor): WrittenFolder {
  const put: WrittenFolder['put'] = async (path, content) =>
    folder.put(path, typeof content === 'string' ? redactor.text(content) : content);
  return { ...folder, put };
}

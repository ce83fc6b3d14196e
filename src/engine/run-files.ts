import { readFile } from 'node:fs/promises';
import type { Composition } from '../compose.ts';
import { errorText } from '../model/errors.ts';
import type { Playbook } from '../model/plan.ts';
import type { Board } from '../model/plan/board.ts';
import type { RunDefinition } from '../model/run.ts';
import type { RunState } from '../model/run-state.ts';
import { letThroughBy } from '../preflight/secrets.ts';
import type { RunFile } from '../report/files/run-file.ts';
import { confine, pathProblem } from '../substrate/files/confine.ts';
import { removeUnfinished, runFolder, writeWhole } from '../substrate/files/run-files.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import { createProjector } from './project-files.ts';

/** A burst of steps is one rewriting. */
const REST_MS = 200;

/** The files for people in `.squad/runs/<run id>/`, by the ledger. squad never reads them back. */
export interface RunFiles {
  /** The plan has moved on. Writes what that changes in the background, after the step that calls. */
  changed(board: Board): void;
  /** Writes what is left, and these, and stops. Safe to repeat. Never throws: what cannot be written is a warning. */
  end(state: RunState, more?: readonly RunFile[]): Promise<void>;
}

interface RunFilesPorts extends Pick<Composition, 'clock' | 'redactor'> {
  readonly ledger: Pick<Ledger, 'events' | 'attempt' | 'settlement'>;
  readonly playbook: Pick<Playbook<unknown>, 'files'>;
  warn(text: string): void;
}

/** A resume makes them anew: what is there and the same is left alone. `directory`: `.squad`. */
export function createRunFiles(
  ports: RunFilesPorts,
  directory: string,
  of: { readonly lease: Lease; readonly definition: RunDefinition },
): RunFiles {
  const folder = runFolder(directory, of.lease.runId);
  const redactor = ports.redactor(letThroughBy(of.definition));
  const projector = createProjector(ports, of, async ({ path, text }) =>
    put(folder, { path, text: redactor.text(text) }),
  );
  const ended = new AbortController();
  let board: Board | undefined;
  let isBehind = false;
  let isClean = false;
  let hasWarned = false;
  let working: Promise<void> | undefined;

  const write = async (state: RunState, more: readonly RunFile[] = []): Promise<void> => {
    try {
      if (!isClean) await removeUnfinished(folder);
      isClean = true;
      if (board !== undefined) await projector.write(board, state);
      for (const file of more) await put(folder, file);
    } catch (error) {
      if (!hasWarned) ports.warn(`the files in ${folder} are not complete: ${errorText(error)}`);
      hasWarned = true;
    }
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

/** Writes a file below the folder unless it is there as it should be. Leaves out what cannot be a path there. */
async function put(folder: string, { path, text }: RunFile): Promise<void> {
  if (pathProblem(path) !== undefined) return;
  const target = confine(folder, path);
  if ((await readFile(target, 'utf8').catch(() => undefined)) !== text) await writeWhole(target, text);
}

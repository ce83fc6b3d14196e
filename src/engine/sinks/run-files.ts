import type { Composition } from '../compose.ts';
import { errorText } from '../../model/errors.ts';
import type { FolderWritten } from '../../model/folder-written.ts';
import type { Board } from '../../model/plan/board.ts';
import type { RunState } from '../../model/run-state.ts';
import { letThroughBy } from '../../model/let-through.ts';
import type { RunFile } from '../../view/report/files/run-file.ts';
import { runFolder } from '../../substrate/system/files/run-files.ts';
import type { OpenSink, SinkOf, SinkPorts } from './sink.ts';
import type { LoadedSinks } from './sinks.ts';

/** A burst of steps is one rewriting. */
const REST_MS = 200;

/** The folders that a run writes for people and programs, by the ledger. squad never reads them back. */
export interface RunFiles {
  /** The plan has moved on. Writes what that changes in the background, after the step that calls. */
  changed(board: Board): void;
  /**
   * Stops the writing in the background, and writes what is left, but for the sinks that are written last. Returns each folder with why
   * it is not complete; none: there was nothing to write. Safe to repeat. Never throws.
   */
  endFolders(state: RunState): Promise<readonly FolderWritten[]>;
  /** Like `endFolders`, and also writes the other sinks and the report. Safe to repeat. Never throws: a failed write is a warning. */
  end(state: RunState, report?: readonly RunFile[]): Promise<void>;
}

interface RunFilesPorts extends Omit<SinkPorts, 'redactor'>, Pick<Composition, 'clock' | 'redactor'> {
  readonly sinks: LoadedSinks;
}

/** A resume makes them anew: what is there and the same is left alone. `directory`: that of the ledger. */
export function createRunFiles(ports: RunFilesPorts, directory: string, of: Omit<SinkOf, 'folder'>): RunFiles {
  const { first, last } = openSinks(ports, { ...of, folder: runFolder(directory, of.lease.runId) });
  const write = writerOf(ports.warn);
  const ended = new AbortController();
  let board: Board | undefined;
  let isBehind = false;
  let isOver = false;
  let working: Promise<void> | undefined;
  let left: Promise<readonly FolderWritten[]> | undefined;
  const catchUp = async (): Promise<void> => {
    while (isBehind && !ended.signal.aborted) {
      await ports.clock.sleep(REST_MS, ended.signal);
      if (ended.signal.aborted) break;
      isBehind = false;
      for (const one of [...first, ...last]) await write(one, board, 'running');
    }
    working = undefined;
  };
  const writeFirst = async (state: RunState): Promise<readonly FolderWritten[]> => {
    await working;
    const written: FolderWritten[] = [];
    for (const one of first) written.push(...(await write(one, board, state)));
    return written;
  };
  const endFolders: RunFiles['endFolders'] = async (state) => {
    ended.abort();
    left ??= writeFirst(state);
    return left;
  };
  return {
    endFolders,
    changed: (next) => {
      board = next;
      isBehind = true;
      if (!ended.signal.aborted) working ??= catchUp();
    },
    end: async (state, report) => {
      if (isOver) return;
      isOver = true;
      await endFolders(state);
      for (const one of last) await write(one, board, state, report);
    },
  };
}

interface NamedSink extends OpenSink {
  readonly sink: string;
}

function openSinks({ sinks, ...ports }: RunFilesPorts, of: SinkOf): { first: NamedSink[]; last: NamedSink[] } {
  const redactor = ports.redactor(letThroughBy(of.definition));
  const opened = (areLast: boolean): NamedSink[] =>
    sinks.flatMap(([sink, { open, isLast = false }]) => {
      const one = isLast === areLast ? open?.({ ...ports, redactor }, of) : undefined;
      return one === undefined ? [] : [{ sink, ...one }];
    });
  return { first: opened(false), last: opened(true) };
}

/** Writes one sink, and warns once of each folder that is not complete, and once more at the end where that is not the end of it. */
function writerOf(warn: (text: string) => void) {
  const warned = new Set<string>();
  return async (
    { sink, folder, write, report, next }: NamedSink,
    board: Board | undefined,
    state: RunState,
    files?: readonly RunFile[],
  ): Promise<FolderWritten[]> => {
    const isEnd = state !== 'running' && next !== undefined;
    if (isEnd) warned.delete(folder);
    try {
      if (board !== undefined) await write?.({ board, state });
      if (files !== undefined) await report?.(files);
      return board === undefined || write === undefined ? [] : [{ sink, folder, problem: null }];
    } catch (error) {
      const problem = errorText(error);
      if (!warned.has(folder)) warn(`the files in ${folder} are not complete: ${problem}${isEnd ? `. ${next}` : ''}`);
      warned.add(folder);
      return [{ sink, folder, problem }];
    }
  };
}

import type { ProcessIdentity } from '../../model/process-identity.ts';

/** One agent process to start behind the turn wrapper. */
export interface TurnSpawn {
  /** Existing folder that receives `prompt`, `stdout`, `stderr`, `exit`, `ended-by`. */
  readonly directory: string;
  /** Absolute path of the real binary; no shell, no PATH lookup. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Complete environment; the port adds only the marker. */
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
  readonly stdin: string;
  /** Epoch ms after which the wrapper itself ends the turn. */
  readonly deadline: number;
  /** Bytes of stdout or of stderr after which the wrapper itself ends the turn. */
  readonly maxOutputBytes: number;
  /** The program may have to become another user (`sudo`), so it gets no isolation that prevents this. */
  readonly keepsUser?: boolean;
}

/** How squad keeps a turn's processes together, so that none outlives it. */
export type TurnIsolation =
  /** The kernel ends all processes with the turn. */
  | { type: 'pid-namespace' }
  /** The same in a user namespace, where no program can become another user. Not used for `keepsUser`. */
  | { type: 'user-namespace' }
  /** squad finds processes by marker and descent. A process that sheds both at once outlives its turn. */
  | { type: 'none'; why: string };

/** A spawned wrapper that holds still: the agent runs only after `go`. */
export interface HeldTurn {
  readonly identity: ProcessIdentity;
  /** Lets the agent run. A wrapper that has died meanwhile shows in `waitForEnding`. */
  go(): Promise<void>;
  /** Ends the wrapper; the agent never runs. */
  abandon(): Promise<void>;
}

/** How the wrapper saw the turn end. */
export type TurnEnding =
  /** The engine died before "go": no agent ran. */
  | { type: 'never-started' }
  | { type: 'exited'; code: number; signal: string | null; endedBy?: 'wall' | 'flood' }
  /** The wrapper was killed before it could write the exit status. `endedBy` is set when it had begun to end the turn. */
  | { type: 'vanished'; endedBy?: 'wall' | 'flood' };

export type CancelStep = { readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'; readonly waitMs: number };

/** A line of a growing output file. `offset` is the byte after it. */
export type TextLine =
  | { type: 'line'; text: string; offset: number }
  /** A line longer than the splitter's bound: its first bytes only, and its true length. */
  | { type: 'cut'; text: string; bytes: number; offset: number }
  /** What stood after the last newline when the process ended. */
  | { type: 'rest'; text: string; offset: number };

export type OutputLine =
  | TextLine
  /** Output left out, because the process has ended and there was too much to read. */
  | { type: 'gap'; bytes: number; offset: number };

/** Everything that touches operating-system processes. macOS has no /proc, so identity and sweep belong to the port too. */
export interface Processes {
  /**
   * Spawns the wrapper in its own process group, output to files by descriptor. Throws a SquadError, with nothing left
   * running, if the command cannot be run or the folder's turn has run before. A folder whose wrapper never let its agent
   * go may be used again.
   */
  spawnTurn(spawn: TurnSpawn): Promise<HeldTurn>;
  /** The isolation that this machine offers. Found once, by a trial. */
  isolation(): Promise<TurnIsolation>;
  /** The very same process is alive: pid, start time, boot id and marker match, and it is no zombie. */
  isAlive(identity: ProcessIdentity): Promise<boolean>;
  /** Resolves when the turn has ended: its exit file is there, or its wrapper is gone. Waits for exit, never for close. */
  waitForEnding(identity: ProcessIdentity, directory: string, signal: AbortSignal): Promise<TurnEnding | undefined>;
  /**
   * Lines of a file from its first byte, following it until `ended` aborts. Then reads the rest if that is quick, else the next
   * lines and the last ones, with a `gap` between them. Yields to the event loop between lines.
   */
  tail(path: string, ended: AbortSignal): AsyncIterable<OutputLine>;
  /** Size in bytes of stdout plus stderr: its growth is a sign of life. */
  outputBytes(directory: string): Promise<number>;
  /**
   * Ends everything of a turn: each step signals the agent and waits for it to exit, then group and descendants are
   * killed and whatever still carries the marker is swept. Resolves with the pids that were still alive at the end
   * (empty: all gone). A process that merely reuses a pid is never signalled.
   */
  endTurn(identity: ProcessIdentity, directory: string, ladder: readonly CancelStep[]): Promise<readonly number[]>;
  /** Kills whatever carries the marker or descends from what does, without asking first. Returns the pids still alive afterwards. */
  sweep(marker: string): Promise<readonly number[]>;
  /**
   * Cuts stdout and stderr of a settled turn to about `keepBytes` each: head, a line that says what is gone, tail. Returns
   * the bytes dropped.
   */
  trimOutput(directory: string, keepBytes: number): Promise<number>;
  /** Runs a short helper (a probe) to its end, output capped at 1 MiB. Never rejects. */
  run(
    command: string,
    args: readonly string[],
    options: { cwd?: string; env: Readonly<Record<string, string>>; timeoutMs: number },
  ): Promise<{ code: number | null; stdout: string; stderr: string; problem?: string }>;
}

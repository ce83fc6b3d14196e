import type { ProcessIdentity } from '../../model/process-identity.ts';
import type { ProgramKind } from '../../model/programs.ts';
import type { BootMoment } from './ledger.ts';

/** One agent process to start behind the turn wrapper. */
export interface TurnSpawn {
  /** Existing folder that receives `prompt`, `stdout`, `stderr`, `exit`, `ended-by`. */
  readonly directory: string;
  /** Absolute path of the real binary; no shell, no PATH lookup. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment; the port adds only the marker. */
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
  readonly stdin: string;
  /** ms after which the wrapper itself ends the turn. */
  readonly wallMs: number;
  /** Bytes of stdout or of stderr after which the wrapper itself ends the turn. */
  readonly maxOutputBytes: number;
  /** The program may have to become another user (`sudo`), so it gets no isolation that prevents this. */
  readonly keepsUser?: boolean;
}

/** How squad makes sure that no process outlives its turn. */
export type TurnIsolation =
  /** The kernel ends all processes of the turn with it. */
  | { type: 'pid-namespace' }
  /** As `pid-namespace`, in a user namespace where no program can become another user. Not used for `keepsUser`. */
  | { type: 'user-namespace' }
  /** squad finds processes by marker and descent. A process that sheds both at once outlives its turn. */
  | { type: 'none'; why: string };

/** A spawned wrapper that waits. The agent runs only after `go`. */
export interface WaitingTurn {
  readonly identity: ProcessIdentity;
  /** Lets the agent run. If the wrapper has died, `waitForEnding` reports it. */
  go(): Promise<void>;
  /** Ends the wrapper; the agent never runs. */
  abandon(): Promise<void>;
}

/** How the turn ended, as the wrapper saw it. */
export type TurnEnding =
  /** The engine died before "go": no agent ran. */
  | { type: 'never-started' }
  | { type: 'exited'; code: number; signal: string | null; endedBy?: 'wall' | 'flood' }
  /** The wrapper was killed before it wrote the exit status. `endedBy` is set if it had begun to end the turn. */
  | { type: 'vanished'; endedBy?: 'wall' | 'flood' };

export type CancelStep = { readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'; readonly waitMs: number };

/** A line of a growing output file. `offset` is the byte after it. */
export type TextLine =
  | { type: 'line'; text: string; offset: number }
  /** The first bytes of a line that is too long, and its true length. */
  | { type: 'cut'; text: string; bytes: number; offset: number }
  /** Text after the last newline when the process ended. */
  | { type: 'rest'; text: string; offset: number };

export type OutputLine =
  | TextLine
  /** Output that was skipped, because the process has ended and there was too much to read. */
  | { type: 'gap'; bytes: number; offset: number };

/** Operating-system processes. */
export interface Processes {
  /**
   * Spawns the wrapper in its own process group; output goes to files by descriptor. Throws a SquadError and leaves nothing
   * running if the command cannot run or an agent has run in this folder before.
   */
  spawnTurn(spawn: TurnSpawn): Promise<WaitingTurn>;
  /** The isolation that this machine supports, by a trial that runs once. */
  isolation(): Promise<TurnIsolation>;
  /** This process is alive and not a zombie: pid, start time, boot id and marker match. */
  isAlive(identity: ProcessIdentity): Promise<boolean>;
  /** ms since the process began, by the kernel's clock, which no change of the time of day moves. undefined: it is gone. */
  ageMs(identity: ProcessIdentity): Promise<number | undefined>;
  /** Now, by a clock that runs on from one process to the next. */
  sinceBoot(): BootMoment;
  /** Resolves when the exit file exists or the wrapper is gone; does not wait for pipes to close. undefined: aborted. */
  waitForEnding(identity: ProcessIdentity, directory: string, signal: AbortSignal): Promise<TurnEnding | undefined>;
  /**
   * Lines of a growing file from its first byte, until `ended` aborts. Then reads the rest if that is quick; otherwise the next
   * lines, a `gap`, and the last lines. Yields to the event loop between lines.
   */
  tail(path: string, ended: AbortSignal): AsyncIterable<OutputLine>;
  /** Bytes of stdout and stderr together. Growth is a sign of life. */
  outputBytes(directory: string): Promise<number>;
  /**
   * Ends all processes of a turn. Each step signals the agent and waits for its exit; then group, descendants and everything with
   * the marker are killed. Resolves with the pids that are still alive. Never signals a process that only reuses a pid.
   */
  endTurn(identity: ProcessIdentity, directory: string, ladder: readonly CancelStep[]): Promise<readonly number[]>;
  /** Kills everything with the marker, and its descendants, at once. Returns the pids that are still alive. */
  sweep(marker: string): Promise<readonly number[]>;
  /**
   * Cuts stdout and stderr of a settled turn to about `keepBytes` each: head, a line with the number of dropped bytes, tail.
   * Returns the dropped bytes.
   */
  trimOutput(directory: string, keepBytes: number): Promise<number>;
  /**
   * Runs a short program to its end, output capped at 1 MiB. `kind`: its row in the table of programs. `input`: a file that it reads
   * as its standard input. Never rejects.
   */
  run(
    command: string,
    args: readonly string[],
    options: {
      kind: ProgramKind;
      cwd?: string;
      env: Readonly<Record<string, string>>;
      timeoutMs: number;
      input?: string;
    },
  ): Promise<{ code: number | null; stdout: string; stderr: string; problem?: string }>;
}

import type { PushedWork } from '../model/run.ts';
import type { RunOutcome } from '../model/run-state.ts';
import type { Rejection } from '../model/rejection.ts';
import type { TaskFailure } from '../model/task-failure.ts';
import type { RunProgress } from './usage-count.ts';

/** A run that this process drives. It needs no further call. */
export interface RunningRun {
  readonly runId: string;
  readonly name: string;
  /** The end of the run or of this process's work on it. Rejects only if the machine fails, such as a full disk. */
  readonly done: Promise<RunEnd>;
  /** Current progress, as `squad status` counts it. Throws after `done`. */
  progress(): RunProgress;
  /** Starts nothing new and ends once no turn runs; no sweep resumes it. `by`: who asked for it, for people. */
  drain(by?: string): void;
  /** Ends turns and checks now, politely first; at most 10 s. */
  cancel(reason: string): Promise<void>;
  /** Kills everything of the run at once. */
  kill(): Promise<void>;
  /**
   * Which turns would be left if this process ended now, and the commands that continue or end them; undefined: none. squad
   * handles no error of a process that is not its own: ask this in your handler of `uncaughtException`,
   * before `done`. Never rejects.
   */
  leftTurns(): Promise<string | undefined>;
}

/** How a run, or this engine's work on it, ended. */
export interface RunEnd {
  readonly runId: string;
  readonly name: string;
  readonly outcome: RunOutcome;
  /** One line, the same in every output: `DONE, …`. */
  readonly headline: string;
  /** The whole reason; may have several lines. */
  readonly why: string;
  /** undefined: the run makes none. */
  readonly branch: string | undefined;
  /** Its newest commit; undefined: nothing was delivered. */
  readonly head: string | undefined;
  /** What was pushed with the person's login; absent: nothing was. */
  readonly pushed?: PushedWork | undefined;
  /** Exit code of the command line, unless a signal ended it. */
  readonly exitCode: number;
  /** Path of the report. */
  readonly report: string;
  /** The open questions of a run that waits. */
  readonly questions: readonly { readonly id: string; readonly text: string; readonly options: readonly string[] }[];
  /** The tasks that were not delivered. */
  readonly failures: readonly TaskFailure[];
  /** The reviews that rejected work for the last time. */
  readonly rejections: readonly Rejection[];
  /** What failed on the commit that the run began from, and how it stands now, a line for each command. Absent: nothing did. */
  readonly baseline?: readonly string[] | undefined;
  /** Commands that continue the run, the most likely first. */
  readonly next: readonly string[];
}

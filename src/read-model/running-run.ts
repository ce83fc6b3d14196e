import type { RunOutcome } from '../model/run-state.ts';
import type { TaskFailure } from '../model/task-failure.ts';
import type { RunProgress } from './usage-count.ts';

/** A run under way in this process. */
export interface RunningRun {
  readonly runId: string;
  readonly name: string;
  readonly done: Promise<RunEnd>;
  /** Current progress, as `squad status` counts it. Must not be called after `done`. */
  progress(): RunProgress;
  /** Starts nothing new and ends once no turn runs; no sweep resumes it. `by`: who asked for it, for people. */
  drain(by?: string): void;
  /** Ends turns and checks now, politely first; at most 10 s. */
  cancel(reason: string): Promise<void>;
  /** Kills everything of the run at once. */
  kill(): Promise<void>;
}

/** How a run, or this engine's work on it, ended. */
export interface RunEnd {
  readonly runId: string;
  readonly name: string;
  readonly outcome: RunOutcome;
  /** One line, the same in every output: `DONE, …`. */
  readonly headline: string;
  readonly why: string;
  readonly branch: string;
  readonly head: string | undefined;
  /** Exit code of the command line, unless a signal ended it. */
  readonly exitCode: number;
  readonly report: string;
  readonly questions: readonly { readonly id: string; readonly text: string; readonly options: readonly string[] }[];
  readonly failures: readonly TaskFailure[];
  /** Commands that continue the run, the most likely first. */
  readonly next: readonly string[];
}

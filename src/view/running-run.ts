import type { AskedQuestion } from '../model/plan/asked-question.ts';
import type { RepositoryView } from '../model/repositories.ts';
import type { PushedWork } from '../model/run.ts';
import { exitCodeOf, type RunOutcome } from '../model/run-state.ts';
import type { Rejection } from '../model/rejection.ts';
import type { TaskFailure } from '../model/task-failure.ts';
import type { RunView } from './run-view.ts';
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
   * Names turns that would be left if this process ended now, with commands that continue or end them; undefined: none. squad
   * handles no errors of your process: call this in your handler of `uncaughtException`, before `done`. Never rejects.
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
  /** Branch and pull request that were pushed with the person's login; absent: nothing was. */
  readonly pushed?: PushedWork | undefined;
  /** The part of each repository, that in which the run was started first; absent: it works on one. */
  readonly repositories?: readonly RepositoryView[] | undefined;
  /** Exit code of the command line, unless a signal ended it. */
  readonly exitCode: number;
  /** Path of the report. */
  readonly report: string;
  /** The open questions of a run that waits. */
  readonly questions: readonly AskedQuestion[];
  /** The tasks that were not delivered. */
  readonly failures: readonly TaskFailure[];
  /** The reviews that rejected work for the last time. */
  readonly rejections: readonly Rejection[];
  /** A line for each command that failed on the base commit: how it stands now. Absent: none failed. */
  readonly baseline?: readonly string[] | undefined;
  /** Commands that continue the run, the most likely first. */
  readonly next: readonly string[];
}

/** The end of a run, or how its last engine left it: that engine must have ended. `report`: its path. */
export function endOf(view: RunView, report: string): RunEnd {
  const { run, plan, questions, next, end } = view;
  const branch = run.delivers ?? undefined;
  return {
    ...{ runId: run.runId, name: run.name, ...conclusionIn(view) },
    branch,
    head: branch === undefined ? undefined : (end?.head ?? undefined),
    pushed: end?.pushed,
    ...(run.repositories === undefined ? {} : { repositories: run.repositories }),
    report,
    questions,
    ...{ failures: plan.failures, rejections: plan.rejections },
    ...(plan.baseline.length === 0 ? {} : { baseline: plan.baseline }),
    next,
  };
}

function conclusionIn({ run: { state }, waits: { waitingFor }, end }: RunView) {
  if (end !== null) return { outcome: end.outcome, headline: end.headline, why: end.why, exitCode: end.exitCode };
  // An engine that ended without a word leaves a run that looks as if it prepared or ran.
  const outcome = state === 'queued' ? 'stopped' : state === 'preparing' || state === 'running' ? 'interrupted' : state;
  const why = waitingFor?.why ?? 'its engine is gone';
  return { outcome, headline: `${outcome.toUpperCase()}, ${why}`, why, exitCode: exitCodeOf(outcome) };
}

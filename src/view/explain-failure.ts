import { wordsOf } from '../model/plan/author-report.ts';
import { choicesOf } from '../rules/choice.ts';
import { boardCascades } from '../rules/cascade.ts';
import { failedReviewsOf, failureFileOf } from '../rules/failed-reviews.ts';
import { isJudge } from '../rules/gate.ts';
import { isBlocked } from '../rules/work-status.ts';
import { OF_A_TEAM } from '../model/playbook-name.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import type { Rejection } from '../model/rejection.ts';
import type { Work } from '../model/plan/work.ts';
import { saysCannotRun } from '../text/cannot-run.ts';
import { shortText } from '../text/plain-text.ts';
import { isSaid } from '../text/reasons.ts';
import type { TaskFailure } from '../model/task-failure.ts';
import type { ToolError } from '../model/tool-error.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { bringCommand, itemOf } from './blocked-item.ts';
import { playedBy, readAttempts, type AttemptReading, type RunHistory, type RunReading } from './read-run.ts';

/** A ref, and the commit that it keeps. */
export interface KeptRef {
  readonly ref: string;
  readonly commit: string;
}

/** One task, with the facts that explain why it was not delivered. */
export interface FailureFacts {
  readonly run: string;
  readonly state: TaskState;
  /** Tasks that were cancelled untouched because they need it. */
  readonly cancelled: readonly string[];
  /** The task's turns, in the order of their claims. */
  readonly turns: readonly AttemptReading[];
  /** The refs that keep the run's attempts. */
  readonly kept: readonly KeptRef[];
  /** The commit that the task's work is compared with; undefined if there was never any work. */
  readonly base: string | undefined;
  /** The run that has played the folder since, so that this one cannot be opened again; absent: there is none. */
  readonly newer?: string | undefined;
  /** The item of a team's backlog that a blocked task is for. */
  readonly item?: string | undefined;
}

const MOST_WORDS = 600;
const MOST_ERRORS = 5;

/** A run with the attempts that `failuresOf` needs, and no others. */
export function withFailedAttempts(ledger: Ledger, reading: RunReading): RunHistory {
  const failed = [...reading.board.tasks.values()].filter(({ work }) => endedBadly(work) !== undefined);
  const runId = reading.row.id;
  const attempts = failed.flatMap(({ task }) => readAttempts(ledger, { runId, taskId: task.id }));
  return { ...reading, attempts, playedBy: playedBy(ledger, reading) };
}

/** Explains every task that failed or was cancelled, in the order of the plan. With it, the tasks that were cancelled because of it. */
export function failuresOf(
  reading: Pick<RunHistory, 'definition' | 'board' | 'attempts' | 'evidence' | 'workspace' | 'playedBy'>,
  kept: readonly KeptRef[],
): TaskFailure[] {
  const { definition, board, attempts, evidence, workspace, playedBy: newer } = reading;
  const cascades = boardCascades(board);
  const folded = new Set([...cascades.values()].flat());
  const tries = choicesOf(board);
  const isClosed = board.finished !== null && OF_A_TEAM.has(definition.playbook);
  return [...board.tasks.values()]
    .toSorted((a, b) => a.order - b.order)
    .flatMap((state) => {
      const { id } = state.task;
      if (folded.has(id)) return [];
      const turns = attempts.filter(({ attempt }) => attempt.kind === 'turn' && attempt.taskId === id);
      const base = evidence.get(id)?.base ?? workspace?.base;
      const cancelled = cascades.get(id) ?? [];
      const item = isBlocked(state) ? itemOf(board, id) : undefined;
      const failure = explainFailure({ run: definition.name, state, turns, kept, base, cancelled, newer, item });
      // Another try was delivered, so nothing is to do about this one; or the team takes it up again by itself.
      const isSettled = tries.has(id) || (isClosed && item === undefined);
      return failure && isSettled ? { ...failure, next: [] } : (failure ?? []);
    });
}

/** Why a task was not delivered, where its work is and what to do next; undefined if it did not fail. */
export function explainFailure(facts: FailureFacts): TaskFailure | undefined {
  const { task } = facts.state;
  const phase = endedBadly(facts.state.work);
  if (phase === undefined) return undefined;
  // If the judge fails, its criteria are shown as not checked, which says enough.
  if (isJudge(task)) return undefined;
  const settled = facts.turns.filter(({ settlement }) => settlement !== undefined);
  const last = tellingTurn(facts.state, settled);
  const own = settled.filter(({ attempt }) => attempt.agent === last?.attempt.agent);
  const lastWords = lastWordsOf(last, phase.why);
  const ended = endedOf(last, `${phase.why}\n${lastWords ?? ''}`);
  return {
    task: task.id,
    title: shortText(task.title, 200),
    as: isBlocked(facts.state) ? 'blocked' : phase.as,
    cause: phase.cause,
    why: shortText(phase.why, 2_000),
    cancelled: [...facts.cancelled],
    agent: last?.attempt.agent ?? null,
    lastWords,
    ended,
    errors: errorsOf(own, [phase.why, lastWords, ended].join('\n')),
    work: workOf(facts),
    next: nextOf(facts),
  };
}

/** undefined: its work did not fail and was not cancelled. */
function endedBadly({ phase }: Work) {
  if (phase.at !== 'ended' || (phase.as !== 'failed' && phase.as !== 'cancelled')) return undefined;
  return { as: phase.as, cause: phase.cause, why: phase.why };
}

/** The turn to show: the author's last one, or the last of all if it failed or a reviewer gave no verdict. */
function tellingTurn({ work }: TaskState, settled: readonly AttemptReading[]): AttemptReading | undefined {
  const last = settled.at(-1);
  if (last !== undefined && last.settlement?.result.outcome !== 'completed') return last;
  const phase = work.phase.at === 'ended' ? work.phase : undefined;
  if (phase?.cause === 'attempts' || phase?.cause === 'bad-output') return last;
  return settled.findLast(({ attempt }) => work.authors.includes(attempt.agent)) ?? last;
}

function lastWordsOf(turn: AttemptReading | undefined, said: string): string | null {
  const result = turn?.settlement?.result;
  const words = result === undefined ? '' : wordsOf(result).trim();
  return isSaid(words, said) ? null : shortText(words, MOST_WORDS);
}

/** squad's words or the runtime's, never the model's. */
function endedOf(turn: AttemptReading | undefined, said: string): string | null {
  const message = turn?.settlement?.result.failure?.message.trim() ?? '';
  return isSaid(message, said) ? null : shortText(message, MOST_WORDS);
}

/** Searches from the newest turn, because an agent often gives up in a turn without a call. Each error once. */
function errorsOf(turns: readonly AttemptReading[], said: string): ToolError[] {
  const found = new Map<string, ToolError>();
  for (const { settlement } of turns.toReversed()) {
    const { toolErrors = [], denials = [] } = settlement?.result ?? {};
    const denied = denials.map(({ tool, message = '' }) => ({ tool, input: '', output: message, denied: true }));
    // The runtime's own list repeats these denials without their input.
    const others = denied.filter(({ tool }) => !toolErrors.some((one) => one.denied && one.tool.endsWith(tool)));
    for (const error of [...others, ...toolErrors].toReversed()) {
      const key = JSON.stringify([error.tool, error.input]);
      if (!found.has(key) && found.size < MOST_ERRORS) found.set(key, plainError(error, said));
    }
  }
  return [...found.values()].toReversed();
}

function plainError({ tool, input, output, denied }: ToolError, said: string): ToolError {
  const more = isSaid(output, said) ? '' : shortText(output, 900);
  return { tool: shortText(tool, 80), input: shortText(input, 300), output: more, denied };
}

/**
 * The ref of the last attempt that left work; also a reviewer's, because squad keeps the author's work under its number. Without
 * one, the first commit that only another branch or a stash of its clone had.
 */
function workOf({ run, state, kept, base }: FailureFacts): TaskFailure['work'] {
  const prefix = `refs/squad/${run}/${state.task.id}-`;
  const own = kept.flatMap(({ ref, commit }) => {
    const number = ref.startsWith(prefix) ? /^(\d+)(-before(?:-\d+)?)?$/.exec(ref.slice(prefix.length)) : null;
    return number === null || commit === base
      ? []
      : [{ ref, commit, number: Number(number[1]), before: number[2] !== undefined }];
  });
  const [last = kept.find(({ ref }) => ref.startsWith(`${prefix}side-`))] = own.toSorted(
    (a, b) => b.number - a.number || Number(a.before) - Number(b.before),
  );
  if (last === undefined) return null;
  const { ref, commit } = last;
  const show = base === undefined ? `git show ${ref}` : `git log --patch ${base.slice(0, 12)}..${ref}`;
  return { ref, commit, show };
}

function nextOf({ run, state, newer, item }: FailureFacts): string[] {
  const { task, work } = state;
  const { phase } = work;
  if (phase.at !== 'ended') return [];
  // The task starts again by itself when the task that it needs is retried.
  if (phase.as === 'cancelled' && work.attempts === 0 && work.override === null) return [];
  // Another try would lack the same; what it waits for reopens the item.
  if (item !== undefined) return [bringCommand(item)];
  if (newer !== undefined) return [`squad status ${newer}`];
  const [retry, override] = againCommands(run, task.id);
  // Without `--reload` the same command would fail again.
  const corrected = `${retry} && squad resume ${run} --reload`;
  if (saysCannotRun(phase.why)) return [corrected];
  return phase.cause === 'rejected' || phase.cause === 'blocked' ? [retry, override] : [retry];
}

/** Another try of a task, and a person's own verdict on it. */
export function againCommands(run: string, task: string): readonly [string, string] {
  return [`squad retry ${task} --run ${run}`, `squad override ${task} done --run ${run} --reason "I read it myself"`];
}

const MOST_SAID = 1_000;
const MOST_ROUNDS = 20;

/** Shortened for people: the last rounds, each with a part of its text. `file` has all of it. */
export function rejectionsOf(board: Board, runId: string): Rejection[] {
  return failedReviewsOf(board).map(({ stage, task, cap, rounds }) => ({
    ...{ stage, task, cap },
    rounds: rounds.slice(-MOST_ROUNDS).map(({ round, approved, text, repeated }) => ({
      ...{ round, approved, repeated },
      text: shortText(text, MOST_SAID),
    })),
    file: `.squad/runs/${runId}/${failureFileOf(stage)}`,
  }));
}

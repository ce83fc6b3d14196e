import { defined } from '../text/defined.ts';
import { isSaid } from '../text/reasons.ts';
import { assertNever } from '../model/assert-never.ts';
import type { PlanLimits } from '../model/plan/board.ts';
import type { WorkEffect } from '../model/plan/effect.ts';
import type { TaskEnded } from '../model/plan/event.ts';
import type { Cause, NewTask, TaskEnd } from '../model/plan/task.ts';
import type { AgentRequest, Prompt, SentBack, Work } from '../model/plan/work.ts';
import { askAgain } from './agent-request.ts';
import { FEEDBACK } from './feedback-texts.ts';
import type { Bench } from './seats.ts';

export interface WorkContext extends Bench {
  readonly task: NewTask;
  readonly limits: PlanLimits;
  /** Candidates are verified before the run branch moves. */
  readonly verifies: boolean;
  /** The language of what goes back to agents. Absent: English. */
  /** Approvals without a look go back. Absent: they do not. */
  readonly looks?: 'required' | undefined;
  readonly now: number;
  readonly seq: number;
  /** The run branch's head. */
  readonly head: string;
  /** Whether this message still waits for an answer. */
  readonly isOpen: (message: string) => boolean;
  /** The session of a task's author; null: it has none. */
  readonly threadOf: (task: string) => AgentRequest['thread'];
}

export interface WorkStep {
  readonly work: Work;
  readonly effects: readonly WorkEffect[];
  /** Empty, or the end of the task. */
  readonly news: readonly TaskEnded[];
}

/** Rounds that count against the limit. */
export function roundsTaken({ round, granted }: Work): number {
  return round - granted;
}

export function stay(work: Work): WorkStep {
  return { work, effects: [], news: [] };
}

export function done(work: Work, context: WorkContext): WorkStep {
  return end(work, context, 'done', null, 'delivered');
}

/** Names first what the work was sent back for: what its author did or left undone after that is the second cause. */
export function fail(work: Work, context: WorkContext, cause: Cause, why: string): WorkStep {
  // A last rejection says itself what the ones before it said.
  const { sentBack } = work;
  const isSame = (cause === 'rejected' && sentBack?.by === 'review') || sentBack?.text === why;
  return end(work, context, 'failed', cause, isSame ? why : afterFirst(work, why));
}

/** A check that failed stays the first cause until it has passed; a rejection or a conflict until the next thing goes wrong. */
export function firstSentBack(work: Work, next: SentBack): SentBack {
  return failedCheck(work) ?? next;
}

/** The return that only a passing check settles; neither a new turn nor a person who asks for one does. */
export function failedCheck({ sentBack }: Work): SentBack | null {
  return sentBack?.by === 'verify' || sentBack?.by === 'playbook' ? sentBack : null;
}

/** Puts the first cause before `why`, unless it says the same of another commit. Also used for work that is skipped after a stall. */
export function afterFirst({ sentBack }: Work, why: string): string {
  const first = sentBack === null ? '' : firstCause(sentBack.text);
  return isSaid(first.replaceAll(COMMIT, ''), why.replaceAll(COMMIT, '')) ? why : FEEDBACK.afterFirst(first, why);
}

const COMMIT = /\b[0-9a-f]{7,40}\b/g;

const MOST_FIRST = 400;

/** The first line of a feedback with its list points, or with the line that it leads to. The task keeps the whole text. */
function firstCause(feedback: string): string {
  const [first = '', ...more] = feedback.trim().split('\n');
  const end = more.findIndex((line) => !line.startsWith('- '));
  const points = end === -1 ? more : more.slice(0, end);
  const lines = [first, ...(points.length === 0 && /[:：]$/.test(first) ? more.slice(0, 1) : points)];
  return lines.join('\n').slice(0, MOST_FIRST).toWellFormed().trim();
}

/** The only way to end a task, so each opening has exactly one end. */
export function end(work: Work, context: WorkContext, as: TaskEnd, cause: Cause | null, why: string): WorkStep {
  const failed = as === 'failed' || as === 'cancelled';
  // A skip has a cause only if neither a person nor a playbook asked for it.
  const skipCause = as === 'skipped' && cause !== 'cancelled' ? cause : null;
  const phase = { at: 'ended', as, cause: failed ? (cause ?? 'cancelled') : skipCause, why } as const;
  const sentBack = as === 'done' ? null : work.sentBack;
  const news = [newsOf(work, context, as, phase.cause ?? 'cancelled', why)];
  return { work: { ...work, phase, sentBack }, effects: [], news };
}

function newsOf(work: Work, context: WorkContext, as: TaskEnd, cause: Cause, why: string): TaskEnded {
  const task = context.task.id;
  switch (as) {
    case 'done': {
      const made = defined({ output: work.output ?? undefined, commit: work.commit ?? undefined });
      return { type: 'task-done', task, ...made, followUps: [...work.followUps] };
    }
    case 'failed':
    case 'cancelled':
      return { type: 'task-failed', task, cause, why, feedback: [...work.feedback] };
    case 'skipped':
      return { type: 'task-skipped', task, why };
    default:
      return assertNever(as);
  }
}

/** Sends the work back to its author, in the same session. */
export function backToAuthor(work: Work, from: Extract<Prompt, { why: 'feedback' }>['from'], text: string): Work {
  return {
    ...work,
    phase: { at: 'working' },
    author: askAgain(work.author, { why: 'feedback', from, text }),
    feedback: [...work.feedback, text],
  };
}

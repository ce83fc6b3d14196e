import type { Cause, TaskEnd } from '../model/plan/task.ts';
import type { AgentRequest, Prompt, Work, WorkEvent } from '../model/plan/work.ts';
import { newRequest } from './agent-request.ts';
import { FEEDBACK } from './feedback-texts.ts';
import { currentAttempts } from './work-requests.ts';
import { end, failedCheck, stay, type WorkContext, type WorkStep } from './work-step.ts';

type RetryAsked = Extract<WorkEvent, { type: 'retry-asked' }>;
type OverrideAsked = Extract<WorkEvent, { type: 'override-asked' }>;

/** Ends a task on request. Live attempts are ended first, and the task ends once they are settled. */
export function settleAsked(
  work: Work,
  asked: { as: TaskEnd; why: string; cause?: Cause | undefined },
  context: WorkContext,
): WorkStep {
  // While the branch moves, only git's result counts.
  if (work.phase.at === 'ended') {
    const isTakenBack = work.phase.as === 'done' && asked.as === 'failed';
    return isTakenBack ? end(work, context, 'failed', asked.cause ?? 'rejected', asked.why) : stay(work);
  }
  if (work.phase.at === 'advancing') return stay(work);
  const still = stopLive(work);
  if (still.leaving.length === 0) return end(work, context, asked.as, asked.cause ?? 'cancelled', asked.why);
  const author = { ...still.author, state: { at: 'queued' } } as const;
  return stay({ ...still, author, phase: { at: 'stopping', as: asked.as, why: asked.why } });
}

/** The operator's retry of the author or of the reviewers, with fresh budgets. */
export function retryAsked(work: Work, { fresh, note, revived = false }: RetryAsked): WorkStep {
  const { phase } = work;
  if (phase.at === 'reviewing' && !fresh && note === null) return askReviewersAgain(work, phase);
  if (phase.at !== 'working' && phase.at !== 'reviewing' && phase.at !== 'ended') return stay(work);
  const still = stopLive(work);
  const round = phase.at === 'ended' && work.attempts > 0 ? work.round + 1 : work.round;
  const author: AgentRequest = {
    ...newRequest(promptOf(work, { fresh, note }), fresh ? null : work.author.thread),
    session: fresh ? 'new' : work.author.session,
    reset: fresh,
  };
  const rejected = phase.at === 'ended' && phase.cause === 'rejected' && !fresh;
  return stay({
    ...still,
    phase: { at: 'working' },
    author,
    round,
    granted: round - 1,
    uncapped: work.uncapped || !revived,
    returns: { evidence: 0, conflict: 0, verify: 0 },
    // A rejected commit must change. Work that failed otherwise may be right as it is.
    returned: rejected ? work.commit : null,
    sentBack: failedCheck(work),
    output: null,
    stalled: null,
    override: null,
    feedback: note === null ? work.feedback : [...work.feedback, note],
  });
}

function promptOf(work: Work, { fresh, note }: Pick<RetryAsked, 'fresh' | 'note'>): Prompt {
  const { phase, attempts } = work;
  if (note !== null) return { why: 'feedback', from: 'person', text: note };
  const last = work.feedback.at(-1);
  const failed = phase.at === 'ended' && phase.as === 'failed';
  if (failed && last !== undefined) return { why: 'feedback', from: 'person', text: last };
  if (fresh || attempts === 0) return { why: 'start' };
  return { why: 'continue', text: FEEDBACK.personAsks(failed ? phase.why : undefined) };
}

/** Given verdicts stay. The other reviewers are asked again with fresh budgets. */
function askReviewersAgain(work: Work, phase: Extract<Work['phase'], { at: 'reviewing' }>): WorkStep {
  const slots = phase.slots.map((slot) => {
    const { thread, session } = slot.request;
    const { instead, ...own } = slot;
    return slot.answer === null
      ? {
          ...own,
          request: { ...newRequest({ why: 'start' }, instead === undefined ? thread : null), session },
          tried: [],
        }
      : slot;
  });
  return stay({ ...stopLive(work), granted: work.round - 1, uncapped: true, phase: { ...phase, slots } });
}

/**
 * The operator decides how a task ends, even if it has already ended. `done` skips reviews, but not conflicts and checks. If
 * nothing can be delivered, the task is marked as done.
 */
export function overrideAsked(work: Work, { as, by, why }: OverrideAsked, context: WorkContext): WorkStep {
  const { phase, commit } = work;
  if (phase.at === 'advancing') return stay(work);
  const said = { ...work, stalled: null, override: { as, by, why } };
  const text = `${by} says so: ${why}`;
  const isDelivered = phase.at === 'ended' && phase.as === 'done';
  if (as === 'done' && commit !== null && context.task.integrate && !isDelivered) {
    const still = stopLive(said);
    const author = { ...still.author, state: { at: 'answered' } } as const;
    return stay({ ...still, author, phase: { at: 'in-queue', commit, since: context.seq } });
  }
  return phase.at === 'ended'
    ? end(said, context, as, 'cancelled', text)
    : settleAsked(said, { as, why: text }, context);
}

/** The graph cancels attempts that are leaving. */
function stopLive(work: Work): Work {
  return { ...work, leaving: [...work.leaving, ...currentAttempts(work)] };
}

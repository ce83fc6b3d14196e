import { assertNever } from '../model/assert-never.ts';
import { reviewsOf, type NewTask } from '../model/plan/task.ts';
import type { AgentRequest, RequestState, Work, WorkEvent } from '../model/plan/work.ts';
import { newRequest, setStall, stopRequest } from './agent-request.ts';
import { overrideAsked, retryAsked, settleAsked } from './work-override.ts';
import { authorAnswered, authorSettled, evidenceGathered } from './work-author.ts';
import { agentRequests, mapRequests, startAttempt } from './work-requests.ts';
import { integrationStep } from './work-integration.ts';
import { openReview, reviewSettled } from './work-review.ts';
import { end, fail, stay, type WorkContext, type WorkStep } from './work-step.ts';

export function newWork(): Work {
  return {
    phase: { at: 'working' },
    author: newRequest({ why: 'start' }),
    round: 1,
    granted: 0,
    uncapped: false,
    returns: { evidence: 0, conflict: 0, verify: 0 },
    authors: [],
    attempts: 0,
    reviews: 0,
    commit: null,
    base: null,
    head: null,
    kept: null,
    returned: null,
    sentBack: null,
    output: null,
    rounds: [],
    followUps: [],
    feedback: [],
    reviewers: {},
    madeOn: [],
    standIns: [],
    stalled: null,
    override: null,
    leaving: [],
  };
}

/**
 * The life of one task: attempt → evidence → review rounds → integrate → verify → delivered or failed. An event that does not
 * fit the phase is late and changes nothing.
 */
export function stepWork(work: Work, event: WorkEvent, context: WorkContext): WorkStep {
  switch (event.type) {
    case 'begun':
      return begin(work, event, context);
    case 'attempt-started':
      return stay(startAttempt(work, event, context));
    case 'attempt-settled':
      return settle(work, event, context);
    case 'evidence-gathered':
      return evidenceGathered(work, event.facts, context);
    case 'integration-started':
    case 'integrated':
    case 'conflict':
    case 'verified':
    case 'branch-advanced':
    case 'branch-foreign':
      return integrationStep(work, event, context);
    case 'wall-raised':
      return onLive(work, event.attempt, (request, live) => setStall(request, live, event.why));
    case 'wall-cleared':
      return onLive(work, event.attempt, (request, live) => setStall(request, live, null));
    case 'wall-fallback':
      return onLive(work, event.attempt, (request, live) => stopRequest(request, live, event.fallback));
    case 'unblocked':
      return unblock(work, event.question, event.goOn, context);
    case 'reopened':
      return reopen(work, event, context);
    case 'settle-asked':
      return settleAsked(work, event, context);
    case 'retry-asked':
      return retryAsked(work, event);
    case 'override-asked':
      return overrideAsked(work, event, context);
    default:
      return assertNever(event);
  }
}

/** The rounds that a task may take: those of its reviews, or the run's. */
export function roundCap(task: NewTask, context: Pick<WorkContext, 'limits'>): number {
  const reviews = reviewsOf(task);
  return reviews.length === 0 ? context.limits.rounds : reviews.reduce((sum, { rounds }) => sum + rounds, 0);
}

function begin(work: Work, { commit, base }: Extract<WorkEvent, { type: 'begun' }>, context: WorkContext): WorkStep {
  if (work.phase.at !== 'working' || context.task.kind === 'work') return stay(work);
  if (context.task.kind === 'check') return authorAnswered(work, context);
  if (commit === undefined) return fail(work, context, 'no-evidence', 'there is no commit to integrate');
  if (context.task.review !== undefined) {
    return openReview({ ...work, commit, base: base ?? null }, commit, context);
  }
  return stay({ ...work, commit, phase: { at: 'in-queue', commit, since: context.seq } });
}

function settle(work: Work, event: Extract<WorkEvent, { type: 'attempt-settled' }>, context: WorkContext): WorkStep {
  const leaving = work.leaving.filter((one) => one.attempt !== event.attempt);
  if (leaving.length < work.leaving.length) {
    const left = { ...work, leaving };
    if (work.phase.at !== 'stopping' || leaving.length > 0) return stay(left);
    return end(left, context, work.phase.as, 'cancelled', work.phase.why);
  }
  const { state } = work.author;
  if (state.at === 'live' && state.attempt === event.attempt) return authorSettled(work, state, event, context);
  return reviewSettled(work, event, context);
}

function onLive(
  work: Work,
  attempt: string,
  change: (request: AgentRequest, live: Extract<RequestState, { at: 'live' }>) => AgentRequest,
): WorkStep {
  return stay(
    mapRequests(work, (request) =>
      request.state.at === 'live' && request.state.attempt === attempt ? change(request, request.state) : request,
    ),
  );
}

function unblock(work: Work, question: string, goOn: boolean, context: WorkContext): WorkStep {
  const isBlocked = ({ state }: AgentRequest): boolean => state.at === 'blocked' && state.question === question;
  if (!agentRequests(work).some(({ request }) => isBlocked(request))) return stay(work);
  if (!goOn) return settleAsked(work, { as: 'failed', why: `${question}: a person gave up on it` }, context);
  return stay(mapRequests(work, (request) => (isBlocked(request) ? { ...request, state: { at: 'queued' } } : request)));
}

/** Work that is reopened needs a new commit: the old one does not answer the feedback. */
function reopen(
  work: Work,
  { feedback, session, agent, isFault }: Extract<WorkEvent, { type: 'reopened' }>,
  { task }: WorkContext,
): WorkStep {
  if (work.phase.at !== 'ended') return stay(work);
  if (agent !== undefined) return begunByAnother(work, agent, feedback, task);
  return stay({
    ...work,
    phase: { at: 'working' },
    author: { ...newRequest({ why: 'feedback', from: 'playbook', text: feedback }, work.author.thread), session },
    round: work.round + 1,
    returns: { evidence: 0, conflict: 0, verify: 0 },
    returned: work.commit,
    sentBack: isFault === false ? null : { by: 'playbook', text: feedback },
    // Handed-over work begins at the commit that is handed over now.
    kept: task.base === undefined ? work.kept : null,
    output: null,
    feedback: [...work.feedback, feedback],
  });
}

function begunByAnother(work: Work, by: string, why: string, { role }: NewTask): WorkStep {
  const before = work.author.thread?.agent ?? role;
  return stay({
    ...work,
    phase: { at: 'working' },
    author: newRequest({ why: 'start' }),
    replaced: [...(work.replaced ?? []), { round: work.round, role, agent: before, by, why }],
    output: null,
    stalled: null,
  });
}

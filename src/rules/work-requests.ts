import type { Board } from '../model/plan/board.ts';
import type { AgentRequest, Work, WorkEvent } from '../model/plan/work.ts';
import { startRequest, threadOf } from './agent-request.ts';
import type { WorkContext } from './work-step.ts';

export interface LiveAttempt {
  readonly attempt: string;
  readonly agent: string;
  readonly session: string;
}

/** Shared, because every decision looks at all tasks and most of them have ended. */
const NONE: readonly never[] = [];

/** The requests that can be live in the task's phase. */
export function agentRequests(
  work: Work,
): readonly { readonly review: string | null; readonly request: AgentRequest }[] {
  switch (work.phase.at) {
    case 'working':
      return [{ review: null, request: work.author }];
    case 'reviewing':
      return work.phase.slots.map((slot) => ({ review: slot.role, request: slot.request }));
    default:
      return NONE;
  }
}

export function currentAttempts(work: Work): readonly LiveAttempt[] {
  if (work.phase.at === 'ended') return NONE;
  return agentRequests(work).flatMap(({ request }) => {
    const { state } = request;
    return state.at === 'live' ? [{ attempt: state.attempt, agent: state.agent, session: state.session }] : [];
  });
}

/** Includes unwanted attempts, which keep their session until they are settled. */
export function liveAttempts(work: Work): readonly LiveAttempt[] {
  return work.leaving.length === 0 ? currentAttempts(work) : [...currentAttempts(work), ...work.leaving];
}

export function mapRequests(work: Work, change: (request: AgentRequest) => AgentRequest): Work {
  const { phase } = work;
  if (phase.at === 'working') return { ...work, author: change(work.author) };
  if (phase.at !== 'reviewing') return work;
  return {
    ...work,
    phase: { ...phase, slots: phase.slots.map((slot) => ({ ...slot, request: change(slot.request) })) },
  };
}

/** Ignores an attempt without a waiting request, and a review by an author. */
export function startAttempt(
  work: Work,
  event: Extract<WorkEvent, { type: 'attempt-started' }>,
  { head }: Pick<WorkContext, 'head'>,
): Work {
  const { phase } = work;
  const { review, agent } = event;
  const attempts = work.attempts + 1;
  if (review === null) {
    if (phase.at !== 'working' || !isWaiting(work.author)) return work;
    const authors = work.authors.includes(agent) ? work.authors : [...work.authors, agent];
    return { ...work, attempts, authors, head, author: startRequest(work.author, event) };
  }
  if (phase.at !== 'reviewing' || work.authors.includes(agent)) return work;
  if (!phase.slots.some((slot) => slot.role === review && isWaiting(slot.request))) return work;
  const slots = phase.slots.map((slot) =>
    slot.role === review ? { ...slot, request: startRequest(slot.request, event) } : slot,
  );
  const reviewers = { ...work.reviewers, [review]: threadOf(event) };
  return { ...work, attempts, reviews: work.reviews + 1, reviewers, phase: { ...phase, slots } };
}

function isWaiting(request: AgentRequest): boolean {
  return request.state.at === 'queued' || request.state.at === 'waiting';
}

/** A live request of a task on the board. */
export interface LiveRequest {
  readonly task: string;
  readonly attempt: string;
  readonly review: string | null;
  readonly request: AgentRequest;
  readonly state: Extract<AgentRequest['state'], { at: 'live' }>;
  readonly work: Work;
}

export function liveRequests(board: Board): LiveRequest[] {
  const live: LiveRequest[] = [];
  for (const { task, work } of board.tasks.open) {
    for (const { review, request } of agentRequests(work)) {
      const { state } = request;
      if (state.at === 'live') live.push({ task: task.id, attempt: state.attempt, review, request, state, work });
    }
  }
  return live;
}

/** Attempts to cancel, with the reason. */
export function unwantedAttempts(board: Board): { attempt: string; why: string }[] {
  const stopped = liveRequests(board)
    .filter(({ state }) => state.stop !== null)
    .map(({ attempt, state }) => ({ attempt, why: state.stall ?? 'no sign of work' }));
  const interrupted = liveRequests(board).flatMap(({ attempt, state: { stop, interruptedBy } }) =>
    stop === null && interruptedBy !== undefined ? [{ attempt, why: interruptedText(interruptedBy) }] : [],
  );
  const leaving = board.tasks.open
    .filter(({ work }) => work.leaving.length > 0)
    .flatMap(({ work }) =>
      work.leaving.map(({ attempt }) => ({
        attempt,
        why: work.phase.at === 'stopping' ? work.phase.why : 'it is not needed any more',
      })),
    );
  return [...stopped, ...interrupted, ...leaving];
}

/** Why a turn ended, for its agent and for people. */
function interruptedText(by: string): string {
  return `${by} interrupted it with a note`;
}

import type { Errand, Work, WorkEvent } from '../../model/plan/work.ts';
import { startErrand } from './errand.ts';

export interface LiveAttempt {
  readonly attempt: string;
  readonly agent: string;
  readonly session: string;
}

/** Most work of a long run has ended, and every decision looks at all of it. */
const NONE: readonly never[] = [];

/** Every errand of the work that can be live in its phase. */
export function errandsOf(work: Work): readonly { readonly review: string | null; readonly errand: Errand }[] {
  switch (work.phase.at) {
    case 'working':
      return [{ review: null, errand: work.author }];
    case 'reviewing':
      return work.phase.slots.map((slot) => ({ review: slot.role, errand: slot.errand }));
    default:
      return NONE;
  }
}

export function liveErrands(work: Work): readonly LiveAttempt[] {
  if (work.phase.at === 'ended') return NONE;
  return errandsOf(work).flatMap(({ errand }) => {
    const { state } = errand;
    return state.at === 'live' ? [{ attempt: state.attempt, agent: state.agent, session: state.session }] : [];
  });
}

/** Those that were told to stop too: they hold their session until they are settled. */
export function liveAttempts(work: Work): readonly LiveAttempt[] {
  return work.leaving.length === 0 ? liveErrands(work) : [...liveErrands(work), ...work.leaving];
}

export function mapErrand(work: Work, change: (errand: Errand) => Errand): Work {
  const { phase } = work;
  if (phase.at === 'working') return { ...work, author: change(work.author) };
  if (phase.at !== 'reviewing') return work;
  return {
    ...work,
    phase: { ...phase, slots: phase.slots.map((slot) => ({ ...slot, errand: change(slot.errand) })) },
  };
}

/** One that fits no queued errand, or whose reviewer is an author, is not taken up. */
export function startAttempt(work: Work, event: Extract<WorkEvent, { type: 'attempt-started' }>): Work {
  const { phase } = work;
  const { review, agent } = event;
  const attempts = work.attempts + 1;
  if (review === null) {
    if (phase.at !== 'working' || !isWaiting(work.author)) return work;
    const authors = work.authors.includes(agent) ? work.authors : [...work.authors, agent];
    return { ...work, attempts, authors, author: startErrand(work.author, event) };
  }
  if (phase.at !== 'reviewing' || work.authors.includes(agent)) return work;
  if (!phase.slots.some((slot) => slot.role === review && isWaiting(slot.errand))) return work;
  const slots = phase.slots.map((slot) =>
    slot.role === review ? { ...slot, errand: startErrand(slot.errand, event) } : slot,
  );
  const reviewers = { ...work.reviewers, [review]: { key: event.session, agent } };
  return { ...work, attempts, reviews: work.reviews + 1, reviewers, phase: { ...phase, slots } };
}

function isWaiting(errand: Errand): boolean {
  return errand.state.at === 'queued' || errand.state.at === 'parked';
}

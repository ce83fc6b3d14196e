import type { StoodIn } from '../model/plan/stood-in.ts';
import type { RequestState, Work, WorkEvent } from '../model/plan/work.ts';

type Settled = Extract<WorkEvent, { type: 'attempt-settled' }>;
type Live = Extract<RequestState, { at: 'live' }>;

/** Notes on which account a turn of the task worked, and for which one that stood in. A turn that did nothing counts for neither. */
export function noteAccount(work: Work, live: Live, review: string | null, { outcome, failure }: Settled): Work {
  if (outcome !== 'completed' && failure?.mayHaveActed !== true) return work;
  const { agent, account, insteadOf } = live;
  const isNew = review === null && !work.madeOn.includes(account);
  const noted = isNew ? { ...work, madeOn: [...work.madeOn, account] } : work;
  if (insteadOf === undefined) return noted;
  const isAuthors = review !== null && work.madeOn.includes(account);
  const stoodIn: StoodIn = { agent, account, insteadOf, review, ...(isAuthors ? { isAuthors } : {}) };
  return noted.standIns.some((one) => isSame(one, stoodIn))
    ? noted
    : { ...noted, standIns: [...noted.standIns, stoodIn] };
}

function isSame(one: StoodIn, other: StoodIn): boolean {
  return (
    one.agent === other.agent &&
    one.account === other.account &&
    one.insteadOf === other.insteadOf &&
    one.review === other.review &&
    one.isAuthors === other.isAuthors
  );
}

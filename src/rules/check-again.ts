import type { EvidenceFacts } from '../model/plan/evidence.ts';
import type { Work } from '../model/plan/work.ts';

/** How often a check runs on one commit where no one repairs the work in between: a failure runs once more at once. */
export const RUNS_AT_ONCE = 2;
/** How often `verify` runs on one candidate: once more if its author finds nothing to change. The end of the run needs a third one. */
const FOR_CANDIDATES = 2;

/** The number of the run of the checks on this candidate, from 1. After the last one, its result stays. */
export function decideRun({ checked }: Pick<Work, 'checked'>, candidate: string): number {
  return checked?.candidate === candidate ? Math.min(checked.failures + 1, FOR_CANDIDATES) : 1;
}

/** Whether a check that failed runs once more, because its author found nothing to change. */
export function isCheckedAgain(
  { returned, sentBack, checked }: Pick<Work, 'returned' | 'sentBack' | 'checked'>,
  { commit, problem }: Pick<EvidenceFacts, 'commit' | 'problem'>,
): boolean {
  if (problem !== undefined || sentBack?.by !== 'verify' || checked === undefined) return false;
  return returned !== null && commit === returned && checked.failures < FOR_CANDIDATES;
}

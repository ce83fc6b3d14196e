import type { Team } from '../../model/sprint/team.ts';
import type { TeamDecision } from './decide-team.ts';

/** A command that prints something new each time would otherwise keep each sprint from starting. */
const REST_MS = 30 * 60_000;

const BEFORE: ReadonlySet<TeamDecision['do']> = new Set(['open-sprint', 'skip-slot']);

/** Whether the sourcer looks before this is done: not where a planner had findings a short while ago. */
export function looksFirst(next: TeamDecision['do'], { review }: Pick<Team, 'review'>, now: number): boolean {
  return BEFORE.has(next) && ![...review.values()].some(({ findings, at }) => findings.length > 0 && isRecent(at, now));
}

/** A time that has not come is of a clock that was set back. */
function isRecent(at: number, now: number): boolean {
  return at <= now && now - at < REST_MS;
}

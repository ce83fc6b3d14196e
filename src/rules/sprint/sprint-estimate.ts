import type { Team } from '../../model/sprint/team.ts';
import { medianOf, p90Of } from '../../text/quantile.ts';

/** Fewer say too little. */
const LEAST = 3;
const MOST = 20;
const MINUTE_MS = 60_000;

/** How long the last sprints of this repository took, for the person who approves the todos of the next. */
export function estimateText({ sprint, end, progress }: Pick<Team, 'sprint' | 'end' | 'progress'>): string {
  const ended = [...end].slice(-MOST).flatMap(([id, { at, outcome }]) => {
    const started = sprint.get(id)?.at;
    const todos = progress.get(id)?.todos.length ?? 0;
    return outcome === 'completed' && started !== undefined && todos > 0 ? [{ ms: at - started, todos }] : [];
  });
  if (ended.length < LEAST) return 'no estimate: fewer than three sprints of this repository were completed';
  const minutes = (values: readonly number[], of: (all: readonly number[]) => number | null): number =>
    Math.round((of(values) ?? 0) / MINUTE_MS);
  const whole = ended.map(({ ms }) => ms);
  const each = ended.map(({ ms, todos }) => ms / todos);
  return [
    `by the last ${ended.length} sprints, half took at most ${minutes(whole, medianOf)} min, nine of ten at most ${minutes(whole, p90Of)} min;`,
    `per todo ${minutes(each, medianOf)} and ${minutes(each, p90Of)} min`,
  ].join(' ');
}

import type { SprintProgress } from '../../../model/sprint/sprint.ts';
import type { Team } from '../../../model/sprint/team.ts';
import { zonedTime } from '../../../text/zoned-time.ts';
import type { SprintFacts } from './team-facts.ts';

export interface TimelineEntry {
  /** ISO with the offset of the zone. */
  readonly at: string;
  readonly event: 'opened' | 'state' | 'phase' | 'todo' | 'stop' | 'ended';
  readonly what: string;
  readonly todo?: string;
}

/** The events of one sprint in their order: as far as its steps were looked up, otherwise its start, its newest state and its end. */
export function sprintTimeline(
  team: Team,
  id: string,
  facts: Pick<SprintFacts, 'steps'> | undefined,
  timezone: string,
): TimelineEntry[] {
  const sprint = team.sprint.get(id);
  if (sprint === undefined) return [];
  const progress = team.progress.get(id);
  const steps = facts?.steps ?? (progress === undefined ? [] : [progress]);
  const stop = team.stop.get(id);
  const end = team.end.get(id);
  const { by, trigger } = sprint.kickoff;
  const entries = [
    { at: sprint.at, event: 'opened' as const, what: `opened by ${by} (${trigger})` },
    ...steps.flatMap((step, index) => changesOf(steps[index - 1], step)),
    ...(stop === undefined
      ? []
      : [{ at: stop.at, event: 'stop' as const, what: `${stop.by} asked it to stop${stop.now ? ' at once' : ''}` }]),
    ...(end === undefined
      ? []
      : [
          {
            at: end.at,
            event: 'ended' as const,
            what: end.reason === undefined ? end.outcome : `${end.outcome}: ${end.reason}`,
          },
        ]),
  ];
  return entries.toSorted((a, b) => a.at - b.at).map((entry) => ({ ...entry, at: zonedTime(entry.at, timezone) }));
}

type Change = Omit<TimelineEntry, 'at'> & { readonly at: number };

function changesOf(before: SprintProgress | undefined, { at, state, phase, todos }: SprintProgress): Change[] {
  const was = new Map((before?.todos ?? []).map((todo) => [todo.id, todo.state]));
  return [
    ...(before?.state === state ? [] : [{ at, event: 'state' as const, what: state }]),
    ...(before?.phase === phase || phase === '' ? [] : [{ at, event: 'phase' as const, what: phase }]),
    ...todos
      .filter((todo) => was.get(todo.id) !== todo.state)
      .map((todo) => ({ at, event: 'todo' as const, what: `${todo.title}: ${todo.state}`, todo: todo.id })),
  ];
}

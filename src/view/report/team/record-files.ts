import { activeSprint, backlogOf, requestStateOf, type Team } from '../../../model/sprint/team.ts';
import { fileName, fileNames } from '../../../text/file-name.ts';
import { zonedTime } from '../../../text/zoned-time.ts';
import { stateOf } from './sprint-report.ts';
import { sprintTimeline } from './sprint-timeline.ts';
import type { SprintOf, TeamFacts } from './team-facts.ts';
import { jsonFile, RUNTIME, type TeamFile } from './team-file.ts';
import { plainJsonText } from '../../../text/plain-text.ts';

/** Requests, items and reviews of the planner as JSON: projections of the records, which squad never reads. */
export function recordFiles(team: Team, { timezone, isOver }: TeamFacts): TeamFile[] {
  const time = (at: number): string => zonedTime(at, timezone);
  const named = <T>(all: ReadonlyMap<string, T>): [id: string, name: string, value: T][] => {
    const names = fileNames([...all.keys()]);
    return [...all].map(([id, value], index) => [id, names[index] ?? '', value]);
  };
  const requests = named(team.request).map(([id, name, { at, cancelledAt, joined, reopens, ...request }]) => {
    const plan = team.requestPlan.get(id);
    return jsonFile(`${RUNTIME}/requests/${name}`, {
      request_id: id,
      internal: false,
      state: requestStateOf(team, id, isOver),
      ...request,
      created_at: time(at),
      cancelled_at: cancelledAt === undefined ? undefined : time(cancelledAt),
      reopens,
      joined: joined.map(({ at: joinedAt, ...one }) => ({ ...one, created_at: time(joinedAt) })),
      plan: plan === undefined ? null : { ...plan, at: time(plan.at) },
    });
  });
  const entries = new Map(backlogOf(team).map(({ id, ...entry }) => [id, entry]));
  const items = named(new Map([...team.item.keys()].flatMap((id) => listed(id, entries.get(id))))).map(
    ([id, name, { createdAt, updatedAt, ...item }]) =>
      jsonFile(`${RUNTIME}/backlog/${name}`, {
        backlog_id: id,
        ...item,
        created_at: time(createdAt),
        updated_at: time(updatedAt),
      }),
  );
  const reviews = named(team.review).map(([id, name, { at, ...review }]) =>
    jsonFile(`${RUNTIME}/operations/${name}`, {
      operation_id: id,
      operation: 'planner-review',
      ...review,
      // The activity of the sourcer.
      candidates: review.findings.flatMap((finding) => {
        const { source, title, candidate, settled = null } = team.finding.get(finding) ?? {};
        return source === undefined ? [] : [{ finding, source, title, candidate, settled }];
      }),
      is_over: isOver(review.run),
      created_at: time(at),
    }),
  );
  const scheduler = jsonFile(`${RUNTIME}/operations/scheduler`, { active_sprint_id: activeSprint(team) ?? null });
  return [...requests, ...items, ...reviews, scheduler];
}

function listed<T>(id: string, value: T | undefined): [string, T][] {
  return value === undefined ? [] : [[id, value]];
}

/** One sprint with its events, and each of its todos as an internal request, which no discovery looks at. */
export function sprintRecordFiles(team: Team, { id, folder, facts }: SprintOf, timezone: string): TeamFile[] {
  const sprint = team.sprint.get(id);
  if (sprint === undefined) return [];
  const progress = team.progress.get(id);
  const end = team.end.get(id);
  const stop = team.stop.get(id);
  const time = (at: number): string => zonedTime(at, timezone);
  const { at, until, ...opened } = sprint;
  const events = sprintTimeline(team, id, facts, timezone).map((event) => plainJsonText({ sprint_id: id, ...event }));
  return [
    jsonFile(`${RUNTIME}/sprints/${folder}`, {
      sprint_id: id,
      folder,
      state: stateOf(progress, end),
      ...opened,
      started_at: time(at),
      until: until === null ? null : time(until),
      title: progress?.title ?? null,
      phase: progress?.phase ?? null,
      reason: end?.reason ?? progress?.reason ?? null,
      todos: progress?.todos ?? [],
      research: progress?.research ?? null,
      stop: stop === undefined ? null : { ...stop, at: time(stop.at) },
      end: end === undefined ? null : { ...end, at: time(end.at) },
    }),
    { path: `${RUNTIME}/sprints/${folder}.events.jsonl`, text: events.map((line) => `${line}\n`).join('') },
    ...(progress?.todos ?? []).map(({ id: todo, ...rest }) =>
      jsonFile(`${RUNTIME}/requests/${folder}_${fileName(todo)}`, {
        request_id: `${id}/${todo}`,
        internal: true,
        sprint_id: id,
        ...rest,
      }),
    ),
  ];
}

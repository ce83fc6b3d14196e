import type { Todo } from '../../model/sprint/sprint.ts';
import type { SprintState } from '../../model/sprint/states.ts';
import { activeSprint, backlogOf, isSelectable, requestStateOf, type Team } from '../../model/sprint/team.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import { zonedTime } from '../../text/zoned-time.ts';
import { bringCommand } from '../blocked-item.ts';
import { standingText, TODO_LOOKS } from './team-words.ts';

export interface StatusPorts {
  readonly team: Team;
  readonly timezone: string;
  readonly isOver: (run: string) => boolean;
  /** The decision about what is next, and why nothing starts. Absent: not checked. */
  readonly next?: { readonly text: string; readonly until?: number | undefined } | undefined;
  /** Absent: not checked. null: it does not begin yet. */
  readonly line?: LineStatus | null | undefined;
}

/** The line, and how many commits of it the branch that is checked out does not have. */
interface LineStatus {
  readonly branch: string;
  readonly ahead: number;
}

/** How a team stands, for programs. Times are ISO with the offset of its zone. null: there is none. */
export interface SprintStatus {
  readonly active_sprint_id: string | null;
  readonly sprint: ActiveSprint | null;
  readonly last_sprint: { readonly sprint_id: string; readonly outcome: string; readonly ended_at: string } | null;
  readonly backlog: { readonly ready: number; readonly blocked: number; readonly selected: number };
  /** That no run of the planner has answered yet. */
  readonly open_requests: number;
  readonly line: LineStatus | null;
  readonly next: { readonly text: string; readonly until: string | null } | null;
}

interface ActiveSprint {
  readonly state: SprintState;
  readonly phase: string | null;
  readonly milestone: string;
  /** In the planner's words. */
  readonly title: string | null;
  readonly reason: string | null;
  readonly run: string;
  readonly started_at: string;
  readonly until: string | null;
  readonly stop: { readonly by: string; readonly now: boolean; readonly at: string } | null;
  readonly todos: readonly Todo[];
}

export function statusOf({ team, timezone, isOver, next, line = null }: StatusPorts): SprintStatus {
  const time = (at: number): string => zonedTime(at, timezone);
  const id = activeSprint(team);
  const last = [...team.end].at(-1);
  const backlog = backlogOf(team);
  const count = (...states: string[]): number => backlog.filter(({ state }) => states.includes(state)).length;
  const open = [...team.request.keys()].filter((one) =>
    ['received', 'planning'].includes(requestStateOf(team, one, isOver)),
  );
  return {
    active_sprint_id: id ?? null,
    sprint: id === undefined ? null : activeOf(team, id, time),
    last_sprint:
      last === undefined ? null : { sprint_id: last[0], outcome: last[1].outcome, ended_at: time(last[1].at) },
    backlog: { ready: backlog.filter(isSelectable).length, blocked: count('blocked'), selected: count('selected') },
    open_requests: open.length,
    line,
    next: next === undefined ? null : { text: next.text, until: next.until === undefined ? null : time(next.until) },
  };
}

function activeOf(team: Team, id: string, time: (at: number) => string): ActiveSprint | null {
  const sprint = team.sprint.get(id);
  if (sprint === undefined) return null;
  const progress = team.progress.get(id);
  const stop = team.stop.get(id);
  return {
    state: progress?.state ?? 'planning',
    phase: progress?.phase ?? null,
    milestone: sprint.kickoff.milestone,
    title: progress?.title ?? null,
    reason: progress?.reason ?? null,
    run: sprint.run,
    started_at: time(sprint.at),
    until: sprint.until === null ? null : time(sprint.until),
    stop: stop === undefined ? null : { by: stop.by, now: stop.now, at: time(stop.at) },
    todos: progress?.todos ?? [],
  };
}

/** For people, as lines of a terminal. */
export function statusLines(status: SprintStatus): string[] {
  const { active_sprint_id: id, sprint, last_sprint: last, backlog, open_requests: open, line, next } = status;
  const waits = [
    ...(backlog.ready > 0 ? [`${backlog.ready} ready`] : []),
    ...(backlog.selected > 0 ? [`${backlog.selected} selected`] : []),
    ...(backlog.blocked > 0 ? [`${backlog.blocked} blocked`] : []),
  ];
  return [
    ...(id === null || sprint === null ? idleLines(last) : activeLines(id, sprint)),
    '',
    `Backlog: ${waits.join(', ') || 'empty'}`,
    ...(line === null || line.ahead === 0
      ? []
      : [
          `Line: ${plainLine(line.branch)} has ${counted(line.ahead, 'commit')} that the branch here does not have: \`squad merge ${line.branch}\` takes it`,
        ]),
    ...(open === 0 ? [] : [`Requests: ${open} not planned yet`]),
    ...nextLines(next),
  ];
}

function idleLines(last: SprintStatus['last_sprint']): string[] {
  return [
    'No sprint is active.',
    ...(last === null ? [] : [`The last one was ${last.sprint_id}: ${last.outcome}, ${last.ended_at}.`]),
  ];
}

function activeLines(id: string, sprint: ActiveSprint): string[] {
  const { state, phase, milestone, title, reason, started_at: from, until, stop, todos } = sprint;
  return [
    `Sprint ${id}: ${plainLine(standingText({ state, phase }))}`,
    `Milestone: ${plainLine(milestone, 300)}`,
    ...(title === null ? [] : [`As the planner put it: ${plainLine(title, 300)}`]),
    `Since ${from}${until === null ? '; it wraps up when its todos are done' : `; it wraps up at ${until}`}`,
    ...(reason === null ? [] : [`Reason: ${plainLine(reason, 500)}`]),
    ...(stop === null ? [] : [`${plainLine(stop.by)} asked it to stop${stop.now ? ' at once' : ''} at ${stop.at}.`]),
    ...(todos.length === 0
      ? ['No todo is planned yet.']
      : ['', `${counted(todos.length, 'todo')}:`, ...todos.flatMap(todoLines)]),
  ];
}

function todoLines({ item, title, state, commit, why, required_inputs: inputs = [] }: Todo): string[] {
  const at = commit === undefined ? '' : `  ${commit.slice(0, 12)}`;
  return [
    `  ${TODO_LOOKS[state].word.padEnd(13)}  ${plainLine(title, 120)}${at}`,
    ...(why === undefined ? [] : [`                 why: ${plainLine(why, 300)}`]),
    ...inputs.map((input) => `                 waits for: ${plainLine(input, 300)}`),
    ...(state === 'blocked' ? [`                 bring it: ${bringCommand(item)}`] : []),
  ];
}

function nextLines(next: SprintStatus['next']): string[] {
  if (next === null) return ['Next: not checked'];
  return [`Next: ${plainLine(next.text, 500)}${next.until === null ? '' : `, until ${next.until}`}`];
}

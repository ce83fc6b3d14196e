import { sumUsd } from '../../../model/money.ts';
import { isTodoDone, type SprintEnd, type SprintProgress, type Todo } from '../../../model/sprint/sprint.ts';
import type { SprintState, TodoState } from '../../../model/sprint/states.ts';
import type { Team } from '../../../model/sprint/team.ts';
import { counted } from '../../../text/counted.ts';
import { zonedTime } from '../../../text/zoned-time.ts';
import { readPlannerReport, unknownCommits, type PlannerReport } from './planner-report.ts';
import { reportChanges, type ReportChange } from './report-changes.ts';
import { sprintTimeline, type TimelineEntry } from './sprint-timeline.ts';
import type { SprintFacts } from './team-facts.ts';
import type { RoleTurn } from '../../sprint/run-facts.ts';

/** null: not checked, or not known; `not_checked` names those that were not looked up. */
export interface SprintReport {
  readonly sprint_id: string;
  readonly state: SprintState;
  readonly headline: string;
  readonly overview: ReportOverview;
  readonly timeline: readonly TimelineEntry[];
  readonly changes: readonly ReportChange[];
  readonly contributions: readonly ReportContribution[];
  readonly issues: readonly string[];
  readonly achievements: readonly string[];
  readonly commits: readonly ReportCommit[];
  readonly cost: {
    readonly usd: number | null;
    readonly turns: number | null;
    readonly turns_without_cost: number | null;
  };
  readonly judgement: { readonly by_record: string; readonly by_planner: string | null };
  /** Claims of the planner that the records contradict. */
  readonly doubts: readonly string[];
  readonly not_checked: readonly string[];
}

interface ReportOverview {
  readonly milestone: string;
  /** In the planner's words. */
  readonly refined: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly started_by: string;
  readonly reason: string | null;
  readonly base: string;
  /** The line of work after it. */
  readonly head: string | null;
  readonly todos: Readonly<Partial<Record<TodoState, number>>>;
  readonly summary: string | null;
}

interface ReportContribution {
  readonly role: string;
  readonly agents: readonly string[];
  readonly turns: number;
  readonly minutes: number;
  readonly usd: number | null;
  readonly summary: string | null;
}

interface ReportCommit {
  readonly commit: string;
  readonly subject: string | null;
  readonly todo: string | null;
  readonly paths: readonly string[] | null;
}

/** The report of one sprint, from its records and from what was looked up of it. undefined: there is no such sprint. */
export function sprintReport(
  team: Team,
  id: string,
  facts: SprintFacts | undefined,
  timezone: string,
): SprintReport | undefined {
  const sprint = team.sprint.get(id);
  if (sprint === undefined) return undefined;
  const progress = team.progress.get(id);
  const end = team.end.get(id);
  const said = readPlannerReport(progress?.report);
  const { todos = [] } = progress ?? {};
  const turns = facts?.turns;
  const words = [said.headline, said.overview, said.summary, said.judgement, ...said.issues, ...said.achievements];
  const known = knownCommits(team, id, facts);
  return {
    sprint_id: id,
    state: stateOf(progress, end),
    headline: said.headline ?? headlineOf(todos, stateOf(progress, end)),
    overview: {
      milestone: sprint.kickoff.milestone,
      refined: progress?.title ?? null,
      started_at: zonedTime(sprint.at, timezone),
      ended_at: end === undefined ? null : zonedTime(end.at, timezone),
      started_by: sprint.kickoff.by,
      reason: end?.reason ?? progress?.reason ?? null,
      base: sprint.base,
      head: end?.head ?? null,
      todos: countsOf(todos),
      summary: said.overview ?? said.summary ?? null,
    },
    timeline: sprintTimeline(team, id, facts, timezone),
    changes: reportChanges(todos, said, known, facts?.commits),
    contributions: contributionsOf(turns ?? [], said),
    issues: [...issuesOf(todos), ...said.issues],
    achievements: said.achievements,
    commits: commitsOf(todos, facts),
    cost: costOf(turns),
    judgement: { by_record: judgementOf(todos, end), by_planner: said.judgement ?? null },
    doubts: unknownCommits(words, known).map(
      (commit) => `The planner names the commit ${commit}, which is not on record.`,
    ),
    not_checked: [
      ...(turns === undefined ? ['contributions', 'cost'] : []),
      ...(facts?.commits === undefined ? ['subjects and paths of commits'] : []),
      ...(facts?.steps === undefined ? ['steps between start and end'] : []),
    ],
  };
}

export function stateOf(progress: SprintProgress | undefined, end: SprintEnd | undefined): SprintState {
  return end?.outcome ?? progress?.state ?? 'planning';
}

function knownCommits(team: Team, id: string, facts: SprintFacts | undefined): ReadonlySet<string> {
  const todos = team.progress.get(id)?.todos ?? [];
  const items = [...team.itemState.values()].flatMap(({ commit }) => commit ?? []);
  const ends = [...team.end.values()].flatMap(({ head }) => head ?? []);
  const bases = [...team.sprint.values()].map(({ base }) => base);
  const own = [...todos.flatMap(({ commit }) => commit ?? []), ...(facts?.commits ?? []).map(({ commit }) => commit)];
  return new Set([...own, ...items, ...ends, ...bases]);
}

function countsOf(todos: readonly Todo[]): Partial<Record<TodoState, number>> {
  const counts: Partial<Record<TodoState, number>> = {};
  for (const { state } of todos) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

function headlineOf(todos: readonly Todo[], state: SprintState): string {
  const done = todos.filter(isTodoDone).length;
  return todos.length === 0
    ? `${state}: no todo was planned`
    : `${state}: ${done} of ${counted(todos.length, 'todo')} delivered`;
}

function issuesOf(todos: readonly Todo[]): string[] {
  return todos.flatMap(({ title, state, why, required_inputs: inputs = [], reopened = {} }) => {
    const rounds = Object.entries(reopened).map(([category, times]) => `${category} ${times}`);
    const ended = state === 'blocked' || state === 'failed' || state === 'uncommitted' || state === 'carried_over';
    return [
      ...(ended ? [`${title}: ${state}${why === undefined ? '' : `, ${why}`}`] : []),
      ...inputs.map((input) => `${title} waits for: ${input}`),
      ...(rounds.length === 0 ? [] : [`${title} was reopened: ${rounds.join(', ')}`]),
    ];
  });
}

function contributionsOf(turns: readonly RoleTurn[], { contributions }: PlannerReport): ReportContribution[] {
  const byRole = Map.groupBy(turns, ({ role }) => role);
  return [...byRole].map(([role, own]) => {
    const costs = own.flatMap(({ costUsd }) => (typeof costUsd === 'number' ? [costUsd] : []));
    const ms = own.reduce((sum, { startedAt, endedAt = startedAt }) => sum + endedAt - startedAt, 0);
    return {
      role,
      agents: [...new Set(own.map(({ agent }) => agent))],
      turns: own.length,
      minutes: Math.round(ms / 6000) / 10,
      usd: costs.length === 0 ? null : sumUsd(costs),
      summary: contributions.find((one) => one.role === role)?.text ?? null,
    };
  });
}

function commitsOf(todos: readonly Todo[], facts: SprintFacts | undefined): ReportCommit[] {
  const own = todos.flatMap(({ id, commit }) => (commit === undefined ? [] : [{ commit, todo: id }]));
  const looked = new Map((facts?.commits ?? []).map((one) => [one.commit, one]));
  const others = [...looked.keys()].filter((commit) => !own.some((one) => one.commit === commit));
  return [...own, ...others.map((commit) => ({ commit, todo: null }))].map(({ commit, todo }) => {
    const found = looked.get(commit);
    return { commit, todo, subject: found?.subject ?? null, paths: found?.paths ?? null };
  });
}

function costOf(turns: readonly RoleTurn[] | undefined): SprintReport['cost'] {
  if (turns === undefined) return { usd: null, turns: null, turns_without_cost: null };
  const costs = turns.flatMap(({ costUsd }) => (typeof costUsd === 'number' ? [costUsd] : []));
  const usd = turns.length > 0 && costs.length === 0 ? null : sumUsd(costs);
  return { usd, turns: turns.length, turns_without_cost: turns.length - costs.length };
}

/** In squad's own words, from the records alone. */
function judgementOf(todos: readonly Todo[], end: SprintEnd | undefined): string {
  const { blocked = 0, failed = 0, carried_over: carried = 0, uncommitted = 0 } = countsOf(todos);
  const left = [
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(uncommitted > 0 ? [`${uncommitted} not committed`] : []),
    ...(carried > 0 ? [`${carried} carried over`] : []),
  ];
  const done = todos.filter(isTodoDone).length;
  const work = todos.length === 0 ? 'No todo was planned' : `${done} of ${counted(todos.length, 'todo')} delivered`;
  const line =
    end === undefined
      ? 'the sprint is not over'
      : end.head === null
        ? 'the line of work did not move'
        : 'the line of work has the work';
  return `${[work, ...left].join(', ')}; ${line}.`;
}

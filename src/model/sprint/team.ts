import type { z } from 'zod';
import { findingSchema } from './finding.ts';
import { itemSchema, itemStateSchema, type BacklogEntry } from './item.ts';
import { requestPlanSchema, requestSchema, reviewSchema, type RequestState } from './request.ts';
import { KINDS } from './kinds.ts';
import { sprintEndSchema, sprintProgressSchema, sprintSchema, sprintStopSchema } from './sprint.ts';

const SCHEMAS = {
  request: requestSchema,
  requestPlan: requestPlanSchema,
  review: reviewSchema,
  item: itemSchema,
  itemState: itemStateSchema,
  sprint: sprintSchema,
  progress: sprintProgressSchema,
  stop: sprintStopSchema,
  end: sprintEndSchema,
  finding: findingSchema,
} as const satisfies Record<keyof typeof KINDS, z.ZodType>;

type Kind = keyof typeof SCHEMAS;

/** All that a team has on record, by id, each kind in the order in which its records were first written. */
export type Team = { readonly [K in Kind]: ReadonlyMap<string, z.infer<(typeof SCHEMAS)[K]>> };

interface RecordRow {
  readonly id: string;
  readonly value: unknown;
}

/** Throws for a record that another version of squad wrote in another form. */
export function readTeam(records: (kind: string) => readonly RecordRow[]): Team {
  const read = (kind: Kind) => new Map(records(KINDS[kind]).map(({ id, value }) => [id, SCHEMAS[kind].parse(value)]));
  return Object.fromEntries(Object.keys(SCHEMAS).map((kind) => [kind, read(kind as Kind)])) as unknown as Team;
}

/** Each item with its state, the most urgent first; of equal ones the older. */
export function backlogOf(team: Pick<Team, 'item' | 'itemState'>): BacklogEntry[] {
  return [...team.item.keys()]
    .flatMap((id) => entryOf(team, id) ?? [])
    .toSorted((a, b) => b.priority - a.priority || a.createdAt - b.createdAt);
}

/** One item with its state. */
function entryOf({ item, itemState }: Pick<Team, 'item' | 'itemState'>, id: string): BacklogEntry | undefined {
  const one = item.get(id);
  if (one === undefined) return undefined;
  const { at: _, ...state } = itemState.get(id) ?? { at: 0, state: 'pending' as const };
  return { id, ...one, ...state, ...(one.dropped === undefined ? {} : { state: 'dropped' as const }) };
}

/** Whether a sprint may take it. What a sprint carried over waits like what is pending. */
export function isSelectable({ state }: Pick<BacklogEntry, 'state'>): boolean {
  return state === 'pending' || state === 'carried_over';
}

const WORKING: ReadonlySet<string> = new Set(['pending', 'selected', 'carried_over']);

/** `isOver`: whether the run of that id can no longer move. */
export function requestStateOf(team: Team, id: string, isOver: (run: string) => boolean): RequestState {
  const request = team.request.get(id);
  if (request?.cancelledAt !== undefined) return 'cancelled';
  const plan = team.requestPlan.get(id);
  const items = plan?.items ?? (request?.reopens === undefined ? undefined : [request.reopens]);
  if (plan?.outcome === 'refused') return 'refused';
  if (items === undefined) {
    const isPlanned = [...team.review.values()].some(({ run, requests }) => requests.includes(id) && !isOver(run));
    return isPlanned ? 'planning' : 'received';
  }
  const own = items.flatMap((item) => entryOf(team, item) ?? []);
  // Done means delivered: the sprint is over, and its work is on the line.
  const isDone = ({ state, completed_in_sprint_id: sprint = '' }: BacklogEntry): boolean =>
    state === 'dropped' || (state === 'done' && team.end.has(sprint));
  if (own.every(isDone)) return 'done';
  const states = own.map(({ state }) => state);
  return states.includes('blocked') && !states.some((state) => WORKING.has(state)) ? 'blocked' : 'planned';
}

/** Where the newest sprint left the line: at its work or, without any, at the commit that it began with. undefined: there was none. */
export function lineLeftAt({ sprint, end }: Pick<Team, 'sprint' | 'end'>): string | undefined {
  const last = [...sprint].at(-1);
  return last === undefined ? undefined : (end.get(last[0])?.head ?? last[1].base);
}

/** The sprint that is not over; a team has one at a time. */
export function activeSprint({ sprint, end }: Pick<Team, 'sprint' | 'end'>): string | undefined {
  return [...sprint.keys()].find((id) => !end.has(id));
}

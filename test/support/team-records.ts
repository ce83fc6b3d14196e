import { plainSlug } from '../../src/model/slug.ts';
import { KINDS } from '../../src/model/sprint/kinds.ts';
import type { BacklogItem, BacklogState } from '../../src/model/sprint/item.ts';
import type { RequestPlan, SprintRequest } from '../../src/model/sprint/request.ts';
import type { Sprint, SprintEnd, SprintProgress, Todo } from '../../src/model/sprint/sprint.ts';
import { readTeam, type Team } from '../../src/model/sprint/team.ts';
import { sprintId } from '../../src/rules/sprint/sprint-id.ts';

/** 2026-03-24 09:00 in Seoul. */
export const T0 = Date.parse('2026-03-24T00:00:00Z');
/** A hundred sprints in thirty days. */
const EVERY_MS = (30 * 86_400_000) / 100;
const MINUTE_MS = 60_000;

interface History {
  readonly sprints: number;
  /** The newest sprint is not over. */
  readonly active?: boolean;
  /** In the texts of people and agents. */
  readonly hostile?: string;
}

export const commitOf = (number: number): string => `${(number * 7919 + 4096).toString(16)}c0ffee1`.padEnd(40, '0');

/** The records of a team after so many sprints, of three requests and todos each: one delivered, one carried on, one blocked. */
export function teamAfter(history: History): Team {
  const records = recordsAfter(history);
  return readTeam((kind) =>
    [...(records.get(kind) ?? new Map<string, unknown>())].map(([id, value]) => ({ id, value })),
  );
}

export function recordsAfter({ sprints, active = false, hostile = '' }: History): Map<string, Map<string, unknown>> {
  const records = new Map<string, Map<string, unknown>>();
  const put = (kind: string, id: string, value: unknown): void => {
    records.set(kind, (records.get(kind) ?? new Map<string, unknown>()).set(id, value));
  };
  const taken: string[] = [];
  for (let number = 0; number < sprints; number += 1) {
    const at = T0 + number * EVERY_MS;
    const id = sprintId(at, 'Asia/Seoul', taken);
    taken.push(id);
    const isOpen = active && number === sprints - 1;
    const todos = [0, 1, 2].map((place): Todo => {
      const title = `Change ${number * 3 + place}${hostile === '' ? '' : ` ${hostile}`}`;
      const item = `b-${plainSlug(`change ${number * 3 + place}`)}`;
      const request = `r-${String(number * 3 + place).padStart(8, '0')}`;
      const todo = todoOf({ item, title, place, isOpen, number, hostile });
      put(KINDS.request, request, requestOf(title, request, at));
      put(KINDS.requestPlan, request, { outcome: 'planned', items: [item], answer: title, at } satisfies RequestPlan);
      put(KINDS.item, item, itemOf(title, request, at, place));
      put(KINDS.itemState, item, stateOfItem(todo, id, at));
      return todo;
    });
    const sprint: Sprint = {
      kickoff: {
        milestone: `Milestone ${number} ${hostile}`.trim(),
        text: `Do ${hostile}`,
        items: [],
        attachments: [],
        by: 'squad',
        trigger: 'slot',
      },
      ...{ run: `run-${number}`, base: commitOf(number), at, until: null },
    };
    put(KINDS.sprint, id, sprint);
    const progress: SprintProgress = {
      ...{ state: isOpen ? 'running' : 'wrap_up', phase: isOpen ? 'TODO' : 'REPORT', todos, at: at + 60 * MINUTE_MS },
      ...(isOpen
        ? {}
        : {
            report: {
              headline: `Sprint ${number} ${hostile}`.trim(),
              changes: [{ todo: todos[0]?.id, before: 'b', after: 'a' }],
            },
          }),
    };
    put(KINDS.progress, id, progress);
    const end: SprintEnd = { outcome: 'completed', head: commitOf(number + 1), at: at + 90 * MINUTE_MS };
    if (!isOpen) put(KINDS.end, id, end);
  }
  return records;
}

interface TodoOf {
  readonly item: string;
  readonly title: string;
  readonly place: number;
  readonly isOpen: boolean;
  readonly number: number;
  readonly hostile: string;
}

function todoOf({ item, title, place, isOpen, number, hostile }: TodoOf): Todo {
  const base = { id: plainSlug(item).slice(2, 26), item, title };
  if (place === 0) return { ...base, state: 'committed', commit: commitOf(number + 1) };
  if (place === 1) return { ...base, state: isOpen ? 'running' : 'completed', reopened: { implementation: 1 } };
  return { ...base, state: 'blocked', why: `no key ${hostile}`.trim(), required_inputs: [`the key ${hostile}`.trim()] };
}

function requestOf(text: string, fingerprint: string, at: number): SprintRequest {
  return { ...{ text, by: 'kim', at, fingerprint }, attachments: [], joined: [] };
}

function itemOf(title: string, request: string, at: number, place: number): BacklogItem {
  const times = { createdAt: at, updatedAt: at, version: 1 };
  return {
    title,
    kind: 'feature',
    acceptance: [`${title} works`],
    priority: 50 - place,
    source: `request:${request}`,
    ...times,
  };
}

function stateOfItem(
  { state, commit, why = '', required_inputs: inputs = [] }: Todo,
  sprint: string,
  at: number,
): BacklogState {
  if (state === 'blocked')
    return { ...{ state, at }, blocked_reason: why, blocked_by_role: 'developer', required_inputs: inputs };
  if (state === 'running') return { state: 'selected', selected_in_sprint_id: sprint, at };
  return { state: 'done', completed_in_sprint_id: sprint, at, ...(commit === undefined ? {} : { commit }) };
}

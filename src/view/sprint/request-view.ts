import type { BacklogEntry } from '../../model/sprint/item.ts';
import type { ItemState } from '../../model/sprint/states.ts';
import type { Attachment, RequestState } from '../../model/sprint/request.ts';
import { activeSprint, backlogOf, requestStateOf, type Team } from '../../model/sprint/team.ts';

/** An item of a request, for people and programs. */
export interface RequestItem {
  readonly id: string;
  readonly title: string;
  readonly state: ItemState;
  /** The sprint that has it, or has done it. */
  readonly sprint: string | null;
  readonly commit: string | null;
  /** Why it is blocked or was dropped. */
  readonly why: string | null;
  readonly requiredInputs: readonly string[];
}

/** A request as it stands. Times are epoch ms. */
export interface RequestView {
  readonly id: string;
  readonly text: string;
  readonly by: string;
  readonly at: number;
  readonly state: RequestState;
  /** Who has it next: `planner`, `next sprint`, the id of a sprint, or `you`; null: it is over. */
  readonly next: string | null;
  /** The planner's. */
  readonly answer: string | null;
  readonly items: readonly RequestItem[];
  readonly attachments: readonly Attachment[];
  /** Texts that came later and mean this request. */
  readonly joined: readonly { readonly text: string; readonly by: string; readonly at: number }[];
}

type IsOver = (run: string) => boolean;

/** The newest request last. */
export function viewRequests(team: Team, isOver: IsOver): RequestView[] {
  const backlog = new Map(backlogOf(team).map((one) => [one.id, one]));
  return [...team.request.keys()].flatMap((id) => viewOf(team, backlog, id, isOver) ?? []);
}

/** undefined: there is none with this id. */
export function viewRequest(team: Team, id: string, isOver: IsOver): RequestView | undefined {
  return viewOf(team, new Map(backlogOf(team).map((one) => [one.id, one])), id, isOver);
}

function viewOf(
  team: Team,
  backlog: ReadonlyMap<string, BacklogEntry>,
  id: string,
  isOver: IsOver,
): RequestView | undefined {
  const request = team.request.get(id);
  if (request === undefined) return undefined;
  const { text, by, at, attachments, joined, reopens } = request;
  const plan = team.requestPlan.get(id);
  const ids = plan?.items ?? (reopens === undefined ? [] : [reopens]);
  const items = ids.flatMap((item) => itemOf(backlog.get(item)) ?? []);
  const state = requestStateOf(team, id, isOver);
  return {
    ...{ id, text, by, at, state, next: nextOf(team, state, items), answer: plan?.answer ?? null, items, attachments },
    joined: joined.map((one) => ({ text: one.text, by: one.by, at: one.at })),
  };
}

function itemOf(entry: BacklogEntry | undefined): RequestItem | undefined {
  if (entry === undefined) return undefined;
  const { id, title, state, commit = null, required_inputs: requiredInputs = [] } = entry;
  const sprint = entry.completed_in_sprint_id ?? entry.selected_in_sprint_id ?? null;
  return { id, title, state, sprint, commit, why: entry.blocked_reason ?? entry.dropped ?? null, requiredInputs };
}

function nextOf(team: Team, state: RequestState, items: readonly RequestItem[]): string | null {
  switch (state) {
    case 'received':
    case 'planning':
      return 'planner';
    case 'planned': {
      const active = activeSprint(team);
      const isInIt = items.some(
        (item) => item.sprint === active && (item.state === 'selected' || item.state === 'done'),
      );
      return active !== undefined && isInIt ? active : 'next sprint';
    }
    case 'blocked':
      return 'you';
    case 'done':
    case 'cancelled':
    case 'refused':
      return null;
  }
}

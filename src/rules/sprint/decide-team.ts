import { activeSprint, backlogOf, isSelectable, requestStateOf, type Team } from '../../model/sprint/team.ts';
import type { SprintSettings } from '../../model/sprint/settings.ts';

/** How a run stands: it is only recorded elsewhere, it can move or waits, or it is over. */
export type RunState = 'absent' | 'open' | 'over';

/** All that is looked at. Times are epoch ms. */
export interface TeamView {
  readonly now: number;
  readonly team: Team;
  readonly settings: Pick<SprintSettings, 'start'>;
  runState(run: string): RunState;
  /** A slot is due, and not settled yet. */
  readonly slot?: number | undefined;
  /** The next slot. */
  readonly nextSlot?: number | undefined;
  /** Findings that no planner has had. */
  readonly findings: readonly string[];
  /** Why the line of work cannot be taken now. */
  readonly held?: string | undefined;
  /** A cap of the day is reached: nothing begins until then. */
  readonly cappedUntil?: number | undefined;
  /** A person asked for no sprint: only requests are planned. */
  readonly plansOnly?: boolean | undefined;
}

export type TeamDecision =
  /** Its run was not recorded: whatever opened it has died since. */
  | { readonly do: 'submit-sprint'; readonly sprint: string }
  | { readonly do: 'submit-review'; readonly review: string }
  | { readonly do: 'close-sprint'; readonly sprint: string }
  | { readonly do: 'plan'; readonly requests: readonly string[]; readonly findings: readonly string[] }
  | {
      readonly do: 'open-sprint';
      readonly trigger: 'slot' | 'backlog';
      readonly items: readonly string[];
      readonly slot?: number;
    }
  | { readonly do: 'skip-slot'; readonly slot: number; readonly why: string }
  /** `why`: what it waits for, for people. */
  | { readonly do: 'wait'; readonly until: number | undefined; readonly why: string };

/** More would not fit into one look of a planner. */
const MOST_REQUESTS = 10;
const MOST_FINDINGS = 20;

/** The one thing that is done next for a team. What was begun is finished first; requests go before sprints. */
export function decideTeam(view: TeamView): TeamDecision {
  return begun(view) ?? planned(view) ?? started(view);
}

function begun({ team, runState }: TeamView): TeamDecision | undefined {
  for (const [review, { run }] of team.review) if (runState(run) === 'absent') return { do: 'submit-review', review };
  const sprint = activeSprint(team);
  const run = sprint === undefined ? undefined : team.sprint.get(sprint)?.run;
  if (sprint === undefined || run === undefined) return undefined;
  const state = runState(run);
  if (state === 'absent') return { do: 'submit-sprint', sprint };
  return state === 'over' ? { do: 'close-sprint', sprint } : undefined;
}

function planned(view: TeamView): TeamDecision | undefined {
  const { team, now, cappedUntil } = view;
  if (isLater(cappedUntil, now)) return undefined;
  // Two planners at once could write the same item.
  if (isPlanning(view)) return undefined;
  const isOver = (run: string): boolean => view.runState(run) === 'over';
  const tried = new Map<string, number>();
  for (const { requests } of team.review.values()) for (const id of requests) tried.set(id, (tried.get(id) ?? 0) + 1);
  const requests = [...team.request.keys()]
    .filter((id) => requestStateOf(team, id, isOver) === 'received' && (tried.get(id) ?? 0) < MOST_TRIES)
    .slice(0, MOST_REQUESTS);
  const findings = view.findings.slice(0, MOST_FINDINGS);
  return requests.length + findings.length === 0 ? undefined : { do: 'plan', requests, findings };
}

/** A request that no run of the planner has answered after so many is left to a person. */
const MOST_TRIES = 3;

/** Whether a run may still write items. */
function isPlanning({ team, runState }: TeamView): boolean {
  if ([...team.review.values()].some(({ run }) => runState(run) === 'open')) return true;
  const sprint = activeSprint(team);
  if (sprint === undefined) return false;
  return (team.progress.get(sprint)?.state ?? 'planning') === 'planning';
}

function started(view: TeamView): TeamDecision {
  const { team, now, slot, held, cappedUntil, settings } = view;
  const sprint = activeSprint(team);
  const items = backlogOf(team)
    .filter(isSelectable)
    .map(({ id }) => id);
  if (sprint !== undefined) {
    if (slot !== undefined) return { do: 'skip-slot', slot, why: `the sprint ${sprint} is active` };
    return wait(view, `the sprint ${sprint} is active`);
  }
  if (isLater(cappedUntil, now)) return { do: 'wait', until: cappedUntil, why: 'a cap of the day is reached' };
  if (isPlanning(view)) return wait(view, 'requests are being planned');
  if (items.length === 0) {
    if (slot !== undefined)
      return { do: 'skip-slot', slot, why: 'there is nothing to do: no item of the backlog is pending' };
    return wait(view, 'no item of the backlog is pending');
  }
  if (view.plansOnly === true) return wait(view, 'only requests are planned here');
  if (held !== undefined) return wait(view, held);
  if (slot !== undefined) return { do: 'open-sprint', trigger: 'slot', items, slot };
  if (settings.start === 'hybrid') return { do: 'open-sprint', trigger: 'backlog', items };
  return wait(view, settings.start === 'slots' ? 'the next slot has not come' : '`squad sprint start` starts a sprint');
}

function wait({ nextSlot }: TeamView, why: string): TeamDecision {
  return { do: 'wait', until: nextSlot, why };
}

function isLater(at: number | undefined, now: number): boolean {
  return at !== undefined && at > now;
}

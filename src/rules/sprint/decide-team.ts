import { isTodoDone } from '../../model/sprint/sprint.ts';
import { activeSprint, backlogOf, isSelectable, requestStateOf, type Team } from '../../model/sprint/team.ts';
import type { SprintSettings } from '../../model/sprint/settings.ts';

/** How a run stands: it is only recorded elsewhere, it can move or waits, or it is over. */
export type RunState = 'absent' | 'open' | 'over';

/** All that is looked at. Times are epoch ms. */
export interface TeamView {
  readonly now: number;
  readonly team: Team;
  readonly settings: Pick<SprintSettings, 'start'>;
  readonly runState: (run: string) => RunState;
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
  /** Limits what may begin: to `plans`, or to nothing, so that only what was begun is finished. Absent: all. */
  readonly begins?: 'plans' | 'nothing' | undefined;
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
  const first = begun(view);
  if (first !== undefined || view.begins !== 'nothing') return first ?? planned(view) ?? started(view);
  return wait(view, 'nothing that was begun can be finished now');
}

function begun({ team, runState }: TeamView): TeamDecision | undefined {
  for (const [review, { run }] of team.review) if (runState(run) === 'absent') return { do: 'submit-review', review };
  const sprint = activeSprint(team);
  const run = sprint === undefined ? undefined : team.sprint.get(sprint)?.run;
  if (sprint === undefined || run === undefined) return undefined;
  const state = runState(run);
  if (state === 'open') return undefined;
  // One that a person has stopped by then needs no run to end.
  return { do: state === 'absent' && !team.stop.has(sprint) ? 'submit-sprint' : 'close-sprint', sprint };
}

function planned(view: TeamView): TeamDecision | undefined {
  const { now, cappedUntil } = view;
  if (isLater(cappedUntil, now)) return undefined;
  // Two planners at once could write the same item.
  if (isPlanning(view)) return undefined;
  const requests = unplanned(view, 'again').slice(0, MOST_REQUESTS);
  const findings = view.findings.slice(0, MOST_FINDINGS);
  return requests.length + findings.length === 0 ? undefined : { do: 'plan', requests, findings };
}

/** A request that no run of the planner has answered after so many is left to a person. */
const MOST_TRIES = 3;

/** Requests that no planner has answered: those that are tried again, or those that are left. */
function unplanned({ team, runState }: TeamView, which: 'again' | 'left'): string[] {
  const tried = new Map<string, number>();
  for (const { requests } of team.review.values()) for (const id of requests) tried.set(id, (tried.get(id) ?? 0) + 1);
  const isOver = (run: string): boolean => runState(run) === 'over';
  return [...team.request.keys()].filter(
    (id) =>
      requestStateOf(team, id, isOver) === 'received' && (tried.get(id) ?? 0) < MOST_TRIES === (which === 'again'),
  );
}

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
    const left = unplanned(view, 'left');
    if (left.length === 0) return wait(view, 'no item of the backlog is pending');
    const runs = `${MOST_TRIES} runs of the planner did not answer ${left.join(', ')}`;
    return wait(view, `${runs}: see their reports (\`squad runs\`), then cancel it, or ask in other words`);
  }
  if (view.begins === 'plans') return wait(view, 'only requests are planned here');
  if (held !== undefined) return wait(view, held);
  if (slot !== undefined) return { do: 'open-sprint', trigger: 'slot', items, slot };
  if (settings.start === 'hybrid') {
    const vain = inVain(team);
    return vain === undefined ? { do: 'open-sprint', trigger: 'backlog', items } : wait(view, vain);
  }
  return wait(view, settings.start === 'slots' ? 'the next slot has not come' : '`squad sprint start` starts a sprint');
}

/** Why another sprint would go as the last one did; undefined: it did something, or the backlog has changed since. */
function inVain({ sprint, end, progress, item, itemState }: Team): string | undefined {
  const last = [...sprint.keys()].at(-1);
  const ended = last === undefined ? undefined : end.get(last);
  if (last === undefined || ended === undefined) return undefined;
  const done = progress.get(last)?.todos.some(isTodoDone);
  const changed = [
    ...[...item.values()].map(({ updatedAt }) => updatedAt),
    ...[...itemState.values()].map(({ at }) => at),
  ];
  if (done === true || changed.some((at) => at > ended.at)) return undefined;
  return `no todo of the last sprint (${last}) was done, and the backlog has not changed since: \`squad sprint start\` starts another one`;
}

function wait({ nextSlot }: TeamView, why: string): TeamDecision {
  return { do: 'wait', until: nextSlot, why };
}

function isLater(at: number | undefined, now: number): boolean {
  return at !== undefined && at > now;
}

import { ITEM_STATES, type ItemState } from '../../model/sprint/states.ts';
import { activeSprint, backlogOf, type Team } from '../../model/sprint/team.ts';
import type { ShownSprint, ShownTeam } from './shown-team-schema.ts';

const MOST_ITEMS = 100;
const OVER: ReadonlySet<ItemState> = new Set(['done', 'dropped']);

/** undefined: nothing of a team is on record. `run`: next to which it is shown. */
export function shownTeam(team: Team, run?: string): ShownTeam | undefined {
  if (team.request.size + team.item.size + team.sprint.size === 0) return undefined;
  const backlog = backlogOf(team);
  const open = backlog.filter(({ state }) => !OVER.has(state)).slice(0, MOST_ITEMS);
  const counts = ITEM_STATES.map((state) => [state, backlog.filter((one) => one.state === state).length] as const);
  return {
    sprint: sprintOf(team, [...team.sprint].find(([, sprint]) => sprint.run === run)?.[0] ?? activeSprint(team)),
    backlog: {
      counts: Object.fromEntries(counts.filter(([, count]) => count > 0)),
      items: open.map(({ id, title, state, priority }) => ({ id, title, state, priority })),
    },
  };
}

function sprintOf({ sprint, progress, end }: Team, id: string | undefined): ShownSprint | null {
  const own = id === undefined ? undefined : sprint.get(id);
  if (id === undefined || own === undefined) return null;
  const { state = 'planning', phase = null, title = null, reason = null, todos = [] } = progress.get(id) ?? {};
  const over = end.get(id);
  return {
    ...{ id, run: own.run, state: over?.outcome ?? state, phase, title },
    ...{ milestone: own.kickoff.milestone, reason: over?.reason ?? reason },
    todos: todos.map(({ id: todo, item, title: name, state: now, commit, why, required_inputs: inputs }) => ({
      ...{ id: todo, item, title: name, state: now },
      ...{ commit: commit ?? null, why: why ?? null, waitsFor: inputs ?? [] },
    })),
  };
}

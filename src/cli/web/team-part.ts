import { plainLine } from '../../text/plain-text.ts';
import { counted } from '../../text/counted.ts';
import { markup, type Markup } from '../../view/report/markup.ts';
import type { ShownSprint, ShownTeam, ShownTodo } from '../../view/sprint/shown-team-schema.ts';
import {
  aboutTodo,
  backlogCounts,
  standingText,
  stateWord,
  TODO_LOOKS,
  todoCounts,
} from '../../view/sprint/team-words.ts';
import { type Region, regionOf } from './page.ts';

const CLASSES = { good: 'good', bad: 'bad', open: 'attention', work: 'good', rest: 'soft' } as const;

/** The sprint of a run, and the backlog of its team. */
export function teamRegions(team: ShownTeam | undefined): readonly Region[] {
  if (team === undefined) return [];
  return [regionOf('sprint', 'Sprint', sprintOf(team.sprint)), regionOf('backlog', 'Backlog', backlogOf(team.backlog))];
}

/** A team in the list of all runs. `key`: no other one of the page has it. */
export function teamInList({ sprint, backlog }: ShownTeam, key: string, addressOf: (run: string) => string): Markup {
  const about =
    sprint === null
      ? markup`No sprint is active.`
      : markup`Sprint <a href="${addressOf(sprint.run)}">${sprint.id}</a>, ${standingText(sprint)}: ${milestoneOf(sprint)} (${todoCounts(sprint.todos)}).`;
  const todos = sprint === null || sprint.todos.length === 0 ? '' : todosOf(sprint.todos);
  return markup`<p>${about}</p>${todos}<p>Backlog: ${backlogCounts(backlog)}.</p>${itemsOf(backlog, key)}`;
}

function sprintOf(sprint: ShownSprint | null): Markup {
  if (sprint === null) return markup`<p>No sprint is active.</p>`;
  const { id, reason, todos } = sprint;
  return markup`<p><strong>${id}</strong>: ${standingText(sprint)}. Milestone: ${milestoneOf(sprint)}</p>${
    reason === null ? '' : markup`<p class="attention">Reason: ${plainLine(reason, 500)}</p>`
  }<p>Todos: ${todoCounts(todos)}.</p>${todos.length === 0 ? '' : todosOf(todos)}`;
}

function milestoneOf({ milestone, title }: ShownSprint): string {
  return plainLine(title ?? milestone, 300);
}

function todosOf(todos: readonly ShownTodo[]): Markup {
  return markup`<ul>${todos.map((todo) => {
    const { word, tone } = TODO_LOOKS[todo.state];
    const about = aboutTodo(todo);
    return markup`<li><strong class="${CLASSES[tone]}">${word}</strong> ${plainLine(todo.title, 200)}${
      about === '' ? '' : markup` <span class="soft">${about}</span>`
    }</li>`;
  })}</ul>`;
}

function backlogOf(backlog: ShownTeam['backlog']): Markup {
  return markup`<p>${backlogCounts(backlog)}.</p>${itemsOf(backlog, 'backlog')}`;
}

/** The open items by state, each closed at first. */
function itemsOf({ items }: ShownTeam['backlog'], key: string): Markup {
  const states = [...new Set(items.map(({ state }) => state))];
  return markup`${states.map((state) => {
    const own = items.filter((item) => item.state === state);
    return markup`<details data-key="${key}-${state}"><summary>${counted(own.length, 'item')} ${stateWord(state)}</summary><ul>${own.map(
      ({ id, title, priority }) =>
        markup`<li><code>${id}</code> ${plainLine(title, 200)} <span class="soft">priority ${priority}</span></li>`,
    )}</ul></details>`;
  })}`;
}

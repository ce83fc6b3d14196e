import { plainLine } from '../../text/plain-text.ts';
import type { ShownTeam } from '../../view/sprint/shown-team-schema.ts';
import {
  aboutTodo,
  backlogCounts,
  standingText,
  stateWord,
  TODO_LOOKS,
  todoCounts,
} from '../../view/sprint/team-words.ts';

const MOST_ITEMS = 20;
const WORD = 13;

/** The sprint of a run with its todos, and the backlog of its team, for a status. */
export function teamLines({ team }: { readonly team?: ShownTeam | undefined }): { title: string; lines: string[] }[] {
  if (team === undefined) return [];
  const { sprint, backlog } = team;
  const left = backlog.items.length - MOST_ITEMS;
  const items = backlog.items.slice(0, MOST_ITEMS).map(({ id, title, state, priority }) => {
    return `${stateWord(state).padEnd(WORD)}  ${String(priority).padStart(3)}  ${plainLine(id, 60)}  ${plainLine(title, 80)}`;
  });
  const more = left > 0 ? ['and more: `squad backlog` lists all'] : [];
  return [
    { title: 'sprint', lines: sprint === null ? ['none is active'] : sprintLines(sprint) },
    { title: 'backlog', lines: [backlogCounts(backlog), ...items, ...more] },
  ];
}

function sprintLines(sprint: NonNullable<ShownTeam['sprint']>): string[] {
  const { id, milestone, title, reason, todos } = sprint;
  return [
    plainLine(`${id}: ${standingText(sprint)}; ${todoCounts(todos)}`, 300),
    `milestone: ${plainLine(title ?? milestone, 300)}`,
    ...(reason === null ? [] : [`reason: ${plainLine(reason, 300)}`]),
    ...todos.map((todo) => {
      const about = aboutTodo(todo);
      return `${TODO_LOOKS[todo.state].word.padEnd(WORD)}  ${plainLine(todo.title, 80)}${about === '' ? '' : `  (${about})`}`;
    }),
  ];
}

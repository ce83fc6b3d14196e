import { plainLine } from '../../text/plain-text.ts';
import type { ShownTeam, ShownTodo } from '../../view/sprint/shown-team-schema.ts';
import {
  aboutTodo,
  backlogCounts,
  standingText,
  stateWord,
  TODO_LOOKS,
  todoCounts,
} from '../../view/sprint/team-words.ts';
import { cell, line, rule, type Span } from '../render/cells.ts';
import type { Style } from '../render/style.ts';
import type { Section } from './layout.ts';
import type { BoardView } from './view.ts';

/** Most of the terminal that a team may take, as long as others need room. */
const SHARE = 0.4;
const LEAST = 4;
const WORD = 13;
const RANKS = Object.keys(TODO_LOOKS);
const FORMATS = { good: 'green', bad: 'red', open: 'yellow', work: 'green', rest: 'dim' } as const;

/** The sprint with its todos, then the backlog: always both titles with their counts, and as many lines as there is room for. */
export function teamSection(
  { team }: Pick<BoardView, 'team'>,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  isCompact: boolean,
  style: Style,
): Section {
  if (team === undefined) return { least: 0, most: 0, render: () => [] };
  const title = (name: string, note: string): string =>
    isCompact ? line([{ text: `${name}: ${note}` }], columns, style) : rule(name, note, columns, style);
  const sprint = sprintLines(team, columns, style);
  const items = team.backlog.items.map((item) => itemLine(item, columns, style));
  const all = 2 + sprint.length + items.length;
  const most = Math.min(all, Math.max(LEAST, Math.floor(rows * SHARE)));
  return {
    least: Math.min(most, isCompact ? 2 : LEAST),
    most,
    render: (height) => {
      const room = Math.max(0, height - 2);
      // With many todos, the most urgent item still has a line.
      const forItems = Math.min(items.length, Math.max(room - sprint.length, room > 3 ? 1 : 0));
      const shown = mostUrgent(sprint, room - forItems).map(({ text }) => text);
      const backlog = title('Backlog', backlogCounts(team.backlog));
      return [title('Sprint', sprintNote(team)), ...shown, backlog, ...items.slice(0, forItems)].slice(0, height);
    },
  };
}

interface Ranked {
  readonly text: string;
  /** Its place among all that could be shown; the lowest is shown first. */
  readonly rank: number;
}

/** In their own order. */
function mostUrgent(lines: readonly Ranked[], room: number): readonly Ranked[] {
  if (lines.length <= room) return lines;
  const kept = new Set(lines.toSorted((a, b) => a.rank - b.rank).slice(0, room));
  return lines.filter((one) => kept.has(one));
}

function sprintNote({ sprint }: ShownTeam): string {
  if (sprint === null) return 'none is active';
  const { id, todos } = sprint;
  return plainLine(`${id} · ${standingText(sprint)} · ${todoCounts(todos)}`, 300);
}

function sprintLines({ sprint }: ShownTeam, columns: number, style: Style): Ranked[] {
  if (sprint === null) return [];
  const { milestone, title, reason, todos } = sprint;
  const about = plainLine(`${title ?? milestone}${reason === null ? '' : ` (${reason})`}`, 400);
  const head = line([{ text: 'Milestone: ', format: 'dim' }, { text: about }], columns, style);
  return [
    { text: head, rank: RANKS.indexOf('running') },
    ...todos.map((todo) => ({ text: todoLine(todo, columns, style), rank: RANKS.indexOf(todo.state) })),
  ];
}

function todoLine(todo: ShownTodo, columns: number, style: Style): string {
  const { sign, word, tone } = TODO_LOOKS[todo.state];
  const about = aboutTodo(todo);
  const spans: Span[] = [
    { text: `${sign} ${cell(word, WORD)} `, format: FORMATS[tone] },
    { text: plainLine(todo.title, 200) },
    ...(about === '' ? [] : [{ text: `  ${about}`, format: 'dim' } as const]),
  ];
  return line(spans, columns, style);
}

function itemLine(
  { id, title, state, priority }: ShownTeam['backlog']['items'][number],
  columns: number,
  style: Style,
): string {
  const spans: Span[] = [
    { text: `${cell(stateWord(state), WORD + 2)} `, format: state === 'blocked' ? 'yellow' : 'dim' },
    { text: `${String(priority).padStart(3)}  ` },
    { text: `${plainLine(id, 60)}  `, format: 'dim' },
    { text: plainLine(title, 200) },
  ];
  return line(spans, columns, style);
}

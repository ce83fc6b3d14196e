import { TASK_ENDS, type ShownStatus } from '../../model/plan/task.ts';
import type { Style } from '../render/style.ts';
import type { BoardState, TaskFacts } from './board-state.ts';
import { cell, cut, line, rule, widthOf, type Span } from '../render/cells.ts';
import type { Section } from './layout.ts';
import type { BoardView } from './view.ts';

/** From what a person looks for first. `word`: where the sign alone would be a riddle. */
const LOOKS: Readonly<Record<ShownStatus, { sign: string; word: string; format: Span['format'] }>> = {
  failed: { sign: '✗', word: 'failed', format: 'red' },
  blocked: { sign: '■', word: 'blocked', format: 'yellow' },
  live: { sign: '●', word: 'in work', format: 'green' },
  reviewing: { sign: '◐', word: 'in review', format: 'cyan' },
  integrating: { sign: '→', word: 'merging', format: 'cyan' },
  ready: { sign: '○', word: 'ready', format: undefined },
  waiting: { sign: '·', word: 'waiting', format: 'dim' },
  done: { sign: '✓', word: 'done', format: 'green' },
  skipped: { sign: '–', word: 'skipped', format: 'yellow' },
  cancelled: { sign: '–', word: 'cancelled', format: 'yellow' },
};
const ORDER = Object.keys(LOOKS);
/** Look of a task that waits for an answer, whatever its status. */
const ASKS = { sign: '?', word: 'asking', format: 'yellow' } as const;
/** Look of one that is done, and from which nothing follows before a person approves what it made. */
const ASKED = { sign: '?', word: 'to approve', format: 'yellow' } as const;
type Task = TaskFacts & { readonly look: { sign: string; word: string; format: Span['format'] } };

const WORD_WIDTH = 9;
const MOST_ID = 32;
/** Share of the terminal for a list of tasks. A longer one is a grid. */
const MOST_LISTED = 0.4;

/**
 * The tasks: one line each where there is room, else a grid, else those that matter most; always their counts. Of a run with stages
 * only those that no stage speaks for alone.
 */
export function tasksSection(
  { state }: BoardView,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  isCompact: boolean,
  style: Style,
): Section {
  const asking = new Set([...state.questions.values()].flatMap(({ tasks: of }) => of));
  const asStages = shownAsStages(state);
  const left = state.tasks.entries().filter(([id]) => !asStages.has(id));
  const tasks = left.map(([id, task]) => {
    return { ...task, look: lookOf(task, asking.has(id)) };
  });
  const grid = gridOf(tasks, columns);
  const counts = countsOf(tasks);
  const titled = (shown: number): string => {
    const note = shown < tasks.length ? `${shown} of ${tasks.length}: ${counts}` : counts;
    return isCompact ? line([{ text: note }], columns, style) : rule('Tasks', note, columns, style);
  };
  return {
    least: tasks.length === 0 ? 0 : Math.min(3, 1 + grid.rows),
    most: tasks.length === 0 ? 0 : 1 + (tasks.length <= rows * MOST_LISTED ? tasks.length : grid.rows),
    render: (height) => {
      const room = height - 1;
      if (room === 0) return [titled(tasks.length)];
      if (tasks.length <= room) return [titled(tasks.length), ...listLines(tasks, columns, style)];
      const shown = Math.min(tasks.length, grid.across * room);
      return [titled(shown), ...gridLines(tasks, grid, room, columns, style)];
    },
  };
}

function lookOf({ status }: TaskFacts, isAsked: boolean): Task['look'] {
  if (isAsked && status === 'done') return ASKED;
  return isAsked && !ENDED.has(status) ? ASKS : LOOKS[status];
}

/** Only a stage in which several tasks are open says less than its tasks do. */
function shownAsStages({ stages, tasks }: BoardState): ReadonlySet<string> {
  const isOpen = (id: string): boolean => !ENDED.has(tasks.get(id)?.status ?? 'done');
  const all = [...stages.values()];
  const pieces = all.filter((stage) => stage.tasks.filter(isOpen).length > 1).flatMap((stage) => stage.tasks);
  return new Set(all.flatMap((stage) => stage.tasks).filter((id) => !pieces.includes(id)));
}

const ENDED: ReadonlySet<ShownStatus> = new Set([...TASK_ENDS, 'blocked']);

function countsOf(tasks: readonly Task[]): string {
  const counts = new Map<string, number>();
  for (const { look } of tasks) counts.set(look.word, (counts.get(look.word) ?? 0) + 1);
  const words = [ASKS, ASKED, ...Object.values(LOOKS)].map(({ word }) => word);
  return words.flatMap((word) => (counts.has(word) ? [`${counts.get(word)} ${word}`] : [])).join(', ');
}

function listLines(tasks: readonly Task[], columns: number, style: Style): string[] {
  const widest = (texts: readonly string[], most: number): number => Math.min(most, Math.max(0, ...texts.map(widthOf)));
  const idWidth = widest(
    tasks.map(({ id }) => id),
    Math.max(8, Math.min(MOST_ID, Math.floor(columns / 3))),
  );
  const agentWidth = widest(
    tasks.map(({ agent, role }) => agent ?? role),
    14,
  );
  const wordWidth = widest([...tasks.map(({ look }) => look.word), ' '.repeat(WORD_WIDTH)], MOST_ID);
  const hasRounds = tasks.some(({ round }) => round > 1);
  return tasks.map((task) => {
    const { sign, word, format } = task.look;
    const spans: Span[] = [
      { text: `${sign} ${cell(task.id, idWidth)} `, format },
      { text: `${cell(word, wordWidth)} `, format },
      ...(hasRounds ? [{ text: cell(roundText(task), 4), format: 'yellow' } as const] : []),
      ...(columns < 60 ? [] : [{ text: `${cell(task.agent ?? task.role, agentWidth)} `, format: 'dim' } as const]),
      { text: task.title, format: task.status === 'done' ? 'dim' : undefined },
    ];
    return line(spans, columns, style);
  });
}

function roundText({ round }: TaskFacts): string {
  return round > 1 ? `r${round}` : '';
}

interface Grid {
  readonly cellWidth: number;
  readonly across: number;
  readonly rows: number;
}

function gridOf(tasks: readonly Task[], columns: number): Grid {
  const widest = Math.max(1, ...tasks.map((task) => widthOf(cellText(task))));
  const cellWidth = Math.min(widest + 2, Math.max(6, Math.floor(columns / 2)));
  const across = Math.max(1, Math.floor((columns + 2) / cellWidth));
  return { cellWidth, across, rows: Math.ceil(tasks.length / across) };
}

function cellText(task: Task): string {
  const round = roundText(task);
  return `${task.look.sign} ${task.id}${round === '' ? '' : ` ${round}`}`;
}

/** In the order of the plan if all have room. */
function gridLines(
  tasks: readonly Task[],
  { cellWidth, across, rows }: Grid,
  height: number,
  columns: number,
  style: Style,
): string[] {
  const fits = rows <= height;
  const shown = fits ? tasks : tasks.toSorted((a, b) => urgencyOf(a) - urgencyOf(b)).slice(0, across * height);
  const spans = shown.map((task): Span => {
    const text = cut(cellText(task), cellWidth - 2);
    return { text: cell(text, cellWidth), format: task.look.format };
  });
  return Array.from({ length: Math.min(rows, height) }, (_, row) =>
    line(spans.slice(row * across, (row + 1) * across), columns, style),
  );
}

function urgencyOf({ look, status }: Task): number {
  return look === ASKS || look === ASKED ? -1 : ORDER.indexOf(status);
}

import { currentStage, STAGE_SIGNS, type ShownStage } from '../../model/shown-stage.ts';
import type { Style } from '../render/style.ts';
import { cell, cut, line, rule, widthOf, type Span } from '../render/cells.ts';
import type { Section } from './layout.ts';
import type { BoardView } from './view.ts';

const FORMATS: Readonly<Record<ShownStage['state'], Span['format']>> = {
  done: 'green',
  live: 'cyan',
  waiting: 'dim',
  failed: 'red',
  skipped: 'yellow',
  cancelled: 'yellow',
};
const GAP = 2;
/**
 * Least share of the terminal's rows for the stages. It shows a part of them rather than take more from the activity.
 */
const LEAST_SHARE = 1 / 4;
/** Wide enough for most titles, and narrow enough for three columns in a terminal of 80. */
const MOST_CELL = 25;

/** All stages in columns, to be read downwards, with the rounds taken. Where not all have room, those around the one of now. */
export function stagesSection(
  { state }: BoardView,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  isCompact: boolean,
  style: Style,
): Section {
  const stages = [...state.stages.values()];
  const asked = new Set([...state.questions.values()].flatMap(({ tasks }) => tasks));
  const grid = gridOf(stages, columns);
  const titleRows = isCompact ? 0 : 1;
  const most = stages.length === 0 ? 0 : titleRows + grid.rows;
  return {
    least: Math.min(most, Math.floor(rows * LEAST_SHARE)),
    most,
    render: (height) => {
      const room = Math.min(grid.rows, height - titleRows);
      const from = firstShown(stages, grid.across * room);
      const shown = stages.slice(from, from + grid.across * room);
      const note = shown.length < stages.length ? `${shown.length} of ${stages.length}: ` : '';
      const title = isCompact ? [] : [rule('Stages', `${note}${countsOf(stages)}`, columns, style)];
      return [...title, ...gridLines(shown, grid, room, { columns, style, asked })];
    },
  };
}

function countsOf(stages: readonly ShownStage[]): string {
  const states = ['failed', 'live', 'waiting', 'cancelled', 'skipped', 'done'] as const;
  const counts = states.map((state) => ({ state, count: stages.filter((one) => one.state === state).length }));
  return counts.flatMap(({ state, count }) => (count === 0 ? [] : [`${count} ${state}`])).join(', ');
}

/** The one before the stage of now is the first that is shown, as far as no room is left over at the end. */
function firstShown(stages: readonly ShownStage[], room: number): number {
  const { place } = currentStage(stages) ?? { place: 1 };
  return Math.max(0, Math.min(place - 2, stages.length - room));
}

interface Grid {
  readonly cellWidth: number;
  readonly across: number;
  readonly rows: number;
}

function gridOf(stages: readonly ShownStage[], columns: number): Grid {
  const widest = Math.max(1, ...stages.map((stage) => widthOf(cellText(stage, MOST_CELL))));
  const cellWidth = Math.min(widest + GAP, Math.max(6, Math.floor((columns + GAP) / 2)));
  const most = Math.max(1, Math.floor((columns + GAP) / cellWidth));
  const rows = Math.ceil(stages.length / most);
  return { cellWidth, across: Math.max(1, Math.ceil(stages.length / Math.max(1, rows))), rows };
}

/** The title is cut, and not the rounds. */
function cellText({ state, title, round }: ShownStage, width: number, sign = STAGE_SIGNS[state]): string {
  const rounds = round === undefined || round.taken === 0 ? '' : ` ${round.taken}/${round.cap}`;
  return `${cut(`${sign} ${title}`, Math.max(3, width - rounds.length))}${rounds}`;
}

/** `asked`: tasks that a question is about. */
interface Look {
  readonly columns: number;
  readonly style: Style;
  readonly asked: ReadonlySet<string>;
}

function gridLines(
  stages: readonly ShownStage[],
  { cellWidth }: Grid,
  rows: number,
  { columns, style, asked }: Look,
): string[] {
  const spans = stages.map((stage): Span => {
    // Its result waits for a person's word.
    const isAsked = stage.state === 'done' && stage.tasks.some((task) => asked.has(task));
    const text = cellText(stage, cellWidth - GAP, isAsked ? '?' : undefined);
    return { text: cell(text, cellWidth), format: isAsked ? 'yellow' : FORMATS[stage.state] };
  });
  return Array.from({ length: rows }, (_, row) =>
    line(
      spans.filter((__, index) => index % rows === row),
      columns,
      style,
    ),
  );
}

import { plainLine } from '../../text/plain-text.ts';
import { COLOURED, PLAIN, type Style } from '../render/style.ts';
import { agentsSection } from './agents.ts';
import { attentionSection } from './attention.ts';
import { line, widthOf, type Span } from '../render/cells.ts';
import { renderHead } from './head.ts';
import { historySection } from './history.ts';
import { heightsOf, type Section } from './layout.ts';
import { stagesSection } from './stages.ts';
import { tasksSection } from './tasks.ts';
import { teamSection } from './team.ts';
import type { BoardView, KeyHint } from './view.ts';

interface FrameSize {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
}

/** In smaller terminals, sections have no titles. */
const TITLE_ROWS = 14;

/**
 * A run on one screen, what waits for a person first: at most `rows` lines, each at most `columns` wide, and no control character
 * but those of colour.
 */
export function renderFrame(view: BoardView, { columns, rows, colour }: FrameSize): string[] {
  const style = colour ? COLOURED : PLAIN;
  const isCompact = rows < TITLE_ROWS;
  const hasStages = view.state.stages.size > 0;
  const ofStage = hasStages ? 1 : 0;
  const head: Section = {
    least: rows < 8 ? 1 : 2 + ofStage,
    most: (rows < TITLE_ROWS ? 2 : 3) + ofStage,
    render: (height) => renderHead(view, columns, height, style),
  };
  const foot: Section = { least: rows < 4 ? 0 : 1, most: 1, render: () => [footLine(view, columns, style)] };
  const attention = attentionSection(view, columns, style);
  const agents = agentsSection(view, columns, isCompact, style);
  const stages = stagesSection(view, { columns, rows }, isCompact, style);
  const team = teamSection(view, { columns, rows }, isCompact, style);
  const tasks = tasksSection(view, { columns, rows }, isCompact, style);
  const history = historySection(view, columns, isCompact, style);
  // Who opens a transcript wants to read it.
  const byImportance =
    view.open === undefined
      ? [head, attention, foot, stages, agents, team, tasks, history]
      : [head, attention, foot, history, stages, agents, team, tasks];
  const heights = heightsOf(byImportance, rows);
  const drawn = new Map<Section, readonly string[]>(
    byImportance.map((section, index) => [section, section === history ? [] : draw(section, heights[index] ?? 0)]),
  );
  // The history gets all rows that the other sections leave free.
  const used = [...drawn.values()].reduce((sum, lines) => sum + lines.length, 0);
  drawn.set(history, draw(history, Math.min(history.most, rows - used)));
  const work = hasStages ? [agents, stages, tasks] : [tasks, agents];
  return [head, attention, ...work, team, history, foot].flatMap((section) => drawn.get(section) ?? []);
}

function draw(section: Section, height: number): readonly string[] {
  return height <= 0 ? [] : section.render(height).slice(0, height);
}

function footLine({ keys, notice }: BoardView, columns: number, style: Style): string {
  if (notice !== undefined) return line([{ text: plainLine(notice, 300), format: 'yellow' }], columns, style);
  let shown = keys;
  while (
    shown.length > 2 &&
    widthOf(
      spansOf(shown)
        .map(({ text }) => text)
        .join(''),
    ) > columns
  )
    shown = withoutLeast(shown);
  return line(spansOf(shown), columns, style);
}

/** The last two lead out of it, and an answer is what the run waits for. */
function withoutLeast(keys: readonly KeyHint[]): readonly KeyHint[] {
  const between = keys.slice(1, -2);
  const least = between.findLast(({ key }) => key !== 'a') ?? between.at(-1) ?? keys[0];
  return keys.filter((hint) => hint !== least);
}

function spansOf(keys: readonly KeyHint[]): Span[] {
  return keys.flatMap(({ key, does }, index): Span[] => [
    { text: `${index === 0 ? '' : '  '}${key}`, format: 'bold' },
    { text: ` ${does}`, format: 'dim' },
  ]);
}

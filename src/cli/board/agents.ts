import { agentScope, WHOLE_RUN } from '../../model/plan/scope.ts';
import { spanText } from '../../text/duration.ts';
import { plainLine } from '../../text/plain-text.ts';
import { localTime } from '../../text/time.ts';
import type { Style } from '../render/style.ts';
import type { AgentFacts, BoardState, LiveAttempt } from './board-state.ts';
import { cell, line, rule, widthOf, type Span } from '../render/cells.ts';
import type { Section } from './layout.ts';
import type { BoardView } from './view.ts';

/** One agent and one attempt of it, or none. */
interface Row {
  readonly sign: string;
  readonly format: 'green' | 'yellow' | 'dim';
  readonly name: string;
  readonly model: string;
  readonly task: string;
  readonly doing: string;
  /** How long it has been doing so. */
  readonly since: string;
}

const MOST_NAME = 14;
const MOST_MODEL = 18;
const MOST_TASK = 20;
/** Narrower terminals leave the models out. */
const MODEL_COLUMNS = 72;

/** Each agent with what it does now and since when; those at work first where not all have room. */
export function agentsSection(view: BoardView, columns: number, isCompact: boolean, style: Style): Section {
  const rows = rowsOf(view);
  const titleRows = isCompact ? 0 : 1;
  const working = [...view.state.live.values()].filter(({ kind }) => kind === 'turn').length;
  const most = rows.length === 0 ? 0 : rows.length + titleRows;
  const busy = rows.filter(({ format }) => format !== 'dim').length;
  // The others share a line.
  const least = titleRows + Math.min(6, busy + (busy < rows.length ? 1 : 0));
  return {
    least: Math.min(most, least),
    most,
    render: (height) => {
      const note = `${working} at work`;
      const title = isCompact ? [] : [rule('Agents', note, columns, style)];
      const shown = fitting(rows, height - titleRows);
      const widths = widthsOf(shown.rows, columns);
      return [
        ...title,
        ...shown.rows.map((row) => renderRow(row, widths, columns, style)),
        ...(shown.left === 0 ? [] : [line([{ text: shown.note, format: 'dim' }], columns, style)]),
      ].slice(0, height);
    },
  };
}

function fitting(rows: readonly Row[], height: number): { rows: readonly Row[]; left: number; note: string } {
  if (rows.length <= height) return { rows, left: 0, note: '' };
  const shown = rows
    .toSorted((a, b) => Number(a.format === 'dim') - Number(b.format === 'dim'))
    .slice(0, Math.max(0, height - 1));
  const rest = rows.filter((row) => !shown.includes(row));
  const isIdle = rest.every(({ format }) => format === 'dim');
  const names = rest.map(({ name }) => name).join(', ');
  return { rows: shown, left: rest.length, note: `○ ${rest.length} ${isIdle ? 'idle' : 'more'}: ${names}` };
}

function rowsOf({ state, now }: BoardView): Row[] {
  const attempts = [...state.live.values()];
  const agents = [...state.agents].flatMap(([name, agent]) => {
    const own = attempts.filter((one) => one.agent === name && one.kind === 'turn');
    return own.length === 0 ? [idleRow(agent, state, now)] : own.map((one) => workingRow(agent, one, state, now));
  });
  const checks = attempts.filter(({ kind }) => kind === 'check');
  return [...agents, ...checks.map((one) => checkRow(one, state, now))];
}

function workingRow({ name, model }: AgentFacts, attempt: LiveAttempt, state: BoardState, now: number): Row {
  const { doing, since } = attempt;
  const { id, round } = taskOf(state, attempt);
  return {
    sign: '●',
    format: 'green',
    name,
    model,
    task: round > 1 ? `${id} r${round}` : id,
    doing: doing.text === '' ? 'works' : doing.text,
    since: spanText(now - (doing.text === '' ? since : doing.since)),
  };
}

function idleRow(agent: AgentFacts, state: BoardState, now: number): Row {
  const { name, model, idleSince } = agent;
  const why = whyIdle(agent, state, now);
  return {
    sign: why === undefined ? '○' : '‖',
    format: why === undefined ? 'dim' : 'yellow',
    name,
    model,
    task: '',
    doing: why ?? 'idle',
    since: idleSince === undefined ? '' : spanText(now - idleSince),
  };
}

/** undefined: there is nothing for it to do. */
function whyIdle(
  { name, account }: AgentFacts,
  { pauses, accounts, ended }: BoardState,
  now: number,
): string | undefined {
  if (ended !== undefined) return undefined;
  const pause = pauses.get(agentScope(name)) ?? pauses.get(WHOLE_RUN);
  if (pause !== undefined) return `paused by ${pause.by}`;
  const closed = accounts.get(account ?? '');
  if (closed === undefined) return undefined;
  if (closed.state === 'locked-out') return 'no working login';
  return closed.until === undefined ? 'usage limit' : `usage limit until ${localTime(closed.until, now)}`;
}

/** A command of the user or the repository that squad runs. */
function checkRow(attempt: LiveAttempt, state: BoardState, now: number): Row {
  const { agent, since } = attempt;
  const doing = plainLine(`runs ${agent.replace(/^squad-/, '')}`, 60);
  return {
    sign: '●',
    format: 'green',
    name: 'squad',
    model: '',
    task: taskOf(state, attempt).id,
    doing,
    since: spanText(now - since),
  };
}

function taskOf({ tasks }: BoardState, { task }: LiveAttempt): { id: string; round: number } {
  return tasks.get(task) ?? { id: plainLine(task, 60), round: 1 };
}

interface Widths {
  readonly name: number;
  readonly model: number;
  readonly task: number;
  readonly since: number;
}

function widthsOf(rows: readonly Row[], columns: number): Widths {
  const widest = (of: 'name' | 'model' | 'task' | 'since', most: number): number =>
    Math.min(most, Math.max(0, ...rows.map((row) => widthOf(row[of]))));
  const share = Math.floor(columns / 4);
  return {
    name: widest('name', Math.min(MOST_NAME, share)),
    model: columns < MODEL_COLUMNS ? 0 : widest('model', Math.min(MOST_MODEL, share)),
    task: columns < 30 ? 0 : widest('task', Math.min(MOST_TASK, share)),
    since: widest('since', 6),
  };
}

function renderRow(row: Row, widths: Widths, columns: number, style: Style): string {
  const spans: Span[] = [
    { text: `${row.sign} `, format: row.format },
    { text: `${cell(row.name, widths.name)} `, format: row.format === 'dim' ? 'dim' : 'bold' },
    ...(widths.model === 0 ? [] : [{ text: `${cell(row.model, widths.model)} `, format: 'dim' } as const]),
    ...(widths.task === 0 ? [] : [{ text: `${cell(row.task, widths.task)} `, format: 'cyan' } as const]),
  ];
  const used = spans.reduce((sum, { text }) => sum + widthOf(text), 0);
  const room = columns - used - widths.since - 1;
  const format = row.format === 'green' ? undefined : row.format;
  if (room < 4 || row.since === '') return line([...spans, { text: row.doing, format }], columns, style);
  const since: Span = { text: ` ${row.since.padStart(widths.since)}`, format: 'dim' };
  return line([...spans, { text: cell(row.doing, room), format }, since], columns, style);
}

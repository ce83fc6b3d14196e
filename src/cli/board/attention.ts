import { WHOLE_RUN } from '../../model/plan/scope.ts';
import { bringCommand } from '../../view/blocked-item.ts';
import { plainLine } from '../../text/plain-text.ts';
import { unsaid } from '../../text/reasons.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { Style } from '../render/style.ts';
import { cut, line, wrap } from '../render/cells.ts';
import type { Section } from './layout.ts';
import type { AskedQuestion, BoardState, TaskFacts } from './board-state.ts';
import type { BoardView } from './view.ts';

/** Something that only a person can change, with the command that does. */
interface Want {
  readonly sign: string;
  readonly format: 'yellow' | 'red';
  readonly text: string;
  /** The most likely first; empty: nothing is to be done. */
  readonly command: string;
}

/** Lines of the text of one want where there is room. */
const MOST_LINES = 4;

/** Open questions, pauses and failures, most urgent first. */
export function attentionSection(view: BoardView, columns: number, style: Style): Section {
  const wants = wantsOf(view);
  const wholes = wants.map((want) => wholeHeight(want, columns));
  const most = wholes.reduce((sum, height) => sum + height, 0);
  return {
    least: Math.min(most, wants.length + 2, 4),
    most,
    render: (height) => {
      const shown = wants.length <= height ? wants : wants.slice(0, Math.max(1, height - 1));
      const left = wants.length - shown.length;
      let spare = height - shown.length - (left > 0 ? 1 : 0);
      const lines = shown.flatMap((want, index) => {
        const more = Math.min(spare, (wholes[index] ?? 1) - 1);
        spare -= more;
        return linesOf(want, 1 + more, columns, style);
      });
      return left === 0 ? lines : [...lines, line([{ text: `  and ${left} more`, format: 'yellow' }], columns, style)];
    },
  };
}

/** The questions of a run that waits say what is to be done. */
const ENDED_ALONE: ReadonlySet<string> = new Set(['done', 'waiting']);

function wantsOf({ state }: BoardView): Want[] {
  const { ended, questions, pauses } = state;
  const held = [...pauses].filter(([scope]) => ended === undefined || scope !== WHOLE_RUN);
  return [
    ...(ended === undefined || ENDED_ALONE.has(ended.outcome) ? [] : [endWant(ended)]),
    ...[...questions.values()].map((question) => questionWant(state, question)),
    ...held.map(([scope, { verb, by }]): Want => {
      const what = scope === WHOLE_RUN ? 'the run' : plainLine(scope.replace('/', ' '), 60);
      const verbs = { pause: 'paused', drain: 'drained', stop: 'stopped' } as const;
      return {
        sign: '‖',
        format: 'yellow',
        text: `${what} is ${verbs[verb]} by ${by}`,
        command: resumeCommand(state, scope),
      };
    }),
    ...state.tasks
      .entries()
      .map(([, task]) => task)
      .filter(({ status }) => status === 'failed' || status === 'blocked')
      .map((task) => taskWant(state, task)),
  ];
}

function taskWant(state: BoardState, { id, status, why, item }: TaskFacts): Want {
  const more = unsaid(why, state.ended?.headline ?? '');
  const retry = state.ended !== undefined && state.run.isOfTeam ? '' : `squad retry ${id}${onRun(state)}`;
  const look =
    status === 'blocked' ? ({ sign: '■', format: 'yellow' } as const) : ({ sign: '✗', format: 'red' } as const);
  return {
    ...look,
    text: `${id} ${status === 'blocked' ? 'is blocked' : 'failed'}${more === '' ? '' : `: ${more}`}`,
    command: item === undefined ? retry : bringCommand(item),
  };
}

function endWant({ headline, next: command }: NonNullable<BoardState['ended']>): Want {
  return { sign: '■', format: 'yellow', text: headline, command };
}

function questionWant(state: BoardState, { id, text, options }: AskedQuestion): Want {
  const choices = options.map((option) => plainLine(option, 60)).join(' | ');
  const [first] = options;
  const answer = first === undefined ? '"…"' : shellWord(plainLine(first, 60));
  return {
    sign: '?',
    format: 'yellow',
    text: `${plainLine(text, 600)}${choices === '' ? '' : `  [${choices}]`}`,
    command: `squad answer ${shellWord(plainLine(id, 80))} ${answer}${onRun(state)}`,
  };
}

/** Without it a command acts on the newest run, which may be another one than a person watches. */
function onRun({ run: { name } }: BoardState): string {
  return ` --run ${name}`;
}

function resumeCommand({ run: { name } }: BoardState, scope: string): string {
  const [kind, of] = scope.split('/', 2);
  return `squad resume ${name}${of === undefined ? '' : ` --${kind} ${shellWord(plainLine(of, 60))}`}`;
}

/** No more than is ever shown. */
function textRows(text: string, columns: number): string[] {
  const width = Math.max(1, columns - 2);
  return wrap(cut(text, width * MOST_LINES), width);
}

function wholeHeight({ text, command }: Want, columns: number): number {
  return Math.min(MOST_LINES, textRows(text, columns).length) + (command === '' ? 0 : 1);
}

/** The command keeps its line unless there is only one. */
function linesOf({ sign, format, text, command }: Want, height: number, columns: number, style: Style): string[] {
  const width = Math.max(1, columns - 2);
  const room = command === '' || height === 1 ? height : height - 1;
  const rows = textRows(text, columns);
  const shown = rows.length <= room ? rows : [...rows.slice(0, room - 1), rows.slice(room - 1).join(' ')];
  const said = shown.map((row, index) =>
    line(
      [
        { text: index === 0 ? `${sign} ` : '  ', format },
        { text: cut(row, width), format },
      ],
      columns,
      style,
    ),
  );
  if (room === height) return said;
  return [...said, line([{ text: '  → ' }, { text: command, format: 'bold' }], columns, style)];
}

import { WHOLE_RUN } from '../../model/plan/scope.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { Style } from '../render/style.ts';
import { cut, line, wrap, type Span } from './cells.ts';
import type { Section } from './layout.ts';
import type { AskedQuestion, BoardState } from './board-state.ts';
import type { BoardView } from './view.ts';

/** Something that only a person can change, with the command that does. */
interface Want {
  readonly sign: string;
  readonly format: 'yellow' | 'red';
  readonly text: string;
  /** The most likely first; empty: nothing is to be done. */
  readonly command: string;
}

/** Lines of one want where there is room. */
const MOST_LINES = 4;

/** What waits for a person, most urgent first. */
export function attentionSection(view: BoardView, columns: number, style: Style): Section {
  const wants = wantsOf(view);
  const whole = wants.map((want) => linesOf(want, columns, style));
  return {
    least: Math.min(
      3,
      whole.reduce((sum, { length }) => sum + length, 0),
    ),
    most: whole.reduce((sum, { length }) => sum + length, 0),
    render: (height) => fit(whole, height, columns, style),
  };
}

function fit(whole: readonly (readonly string[])[], height: number, columns: number, style: Style): string[] {
  const all = whole.flat();
  if (all.length <= height) return all;
  const short = whole.map(([first = '']) => first);
  if (short.length < height) return fill(whole, height);
  const left = short.length - height + 1;
  if (short.length === height || height < 2) return short.slice(0, height);
  return [...short.slice(0, height - 1), line([{ text: `  and ${left} more`, format: 'yellow' }], columns, style)];
}

/** Each want has its first line; the first wants get the rest. */
function fill(whole: readonly (readonly string[])[], height: number): string[] {
  let spare = height - whole.length;
  return whole.flatMap((lines) => {
    const more = Math.min(spare, lines.length - 1);
    spare -= more;
    return lines.slice(0, 1 + more);
  });
}

function wantsOf({ state }: BoardView): Want[] {
  const { ended, questions, pauses } = state;
  const held = [...pauses].filter(([scope]) => ended === undefined || scope !== WHOLE_RUN);
  return [
    ...(ended === undefined || ended.outcome === 'done' ? [] : [endWant(ended)]),
    ...[...questions.values()].map(questionWant),
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
    ...[...state.tasks.values()]
      .filter(({ status }) => status === 'failed')
      .map(({ id, why }): Want => {
        return { sign: '✗', format: 'red', text: `${id} failed: ${why}`, command: `squad retry ${id}` };
      }),
  ];
}

function endWant({ headline, next: command }: NonNullable<BoardState['ended']>): Want {
  return { sign: '■', format: 'yellow', text: headline, command };
}

function questionWant({ id, text, options }: AskedQuestion): Want {
  const choices = options.map((option) => plainLine(option, 60)).join(' | ');
  const [first] = options;
  const answer = first === undefined ? '"…"' : shellWord(plainLine(first, 60));
  return {
    sign: '?',
    format: 'yellow',
    text: `${plainLine(text, 600)}${choices === '' ? '' : `  [${choices}]`}`,
    command: `squad answer ${shellWord(plainLine(id, 80))} ${answer}`,
  };
}

function resumeCommand({ run: { name } }: BoardState, scope: string): string {
  const [kind, of] = scope.split('/', 2);
  return `squad resume ${name}${of === undefined ? '' : ` --${kind} ${shellWord(plainLine(of, 60))}`}`;
}

function linesOf({ sign, format, text, command }: Want, columns: number, style: Style): string[] {
  const width = Math.max(1, columns - 2);
  const rows = wrap(text, width).slice(0, MOST_LINES);
  return [
    ...rows.map((row, index): string => {
      const spans: Span[] = [
        { text: index === 0 ? `${sign} ` : '  ', format },
        { text: row, format },
      ];
      return line(spans, columns, style);
    }),
    ...(command === ''
      ? []
      : [line([{ text: '  → ' }, { text: cut(command, width - 2), format: 'bold' }], columns, style)]),
  ];
}

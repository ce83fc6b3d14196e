import { clockTime } from '../../text/time.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Style } from '../render/style.ts';
import type { Activity, Spoken } from './board-state.ts';
import { cell, line, rule, widthOf, wrap, type Span } from '../render/cells.ts';
import type { Section } from './layout.ts';
import type { BoardView } from './view.ts';

const LEAST_LINES = 5;
const MOST_WHO = 14;
const TIME_WIDTH = 9;

/** The activity or, if one is open, an agent's transcript; newest at the bottom. */
export function historySection(view: BoardView, columns: number, isCompact: boolean, style: Style): Section {
  const { state, open } = view;
  const titleRows = isCompact ? 0 : 1;
  const isOpen = open !== undefined;
  const least = isOpen || state.activity.length > 0 ? titleRows + LEAST_LINES : 0;
  return {
    least,
    most: least === 0 ? 0 : Infinity,
    render: (height) => {
      const room = height - titleRows;
      if (room <= 0) return [];
      const { lines, newer } = isOpen
        ? windowOf(
            transcriptLines(state.agents.get(open)?.transcript ?? [], columns, room + view.scrolled, style),
            room,
            view.scrolled,
          )
        : activityLines(state.activity, columns, room, view.scrolled, style);
      const below = newer === 0 ? '' : `${newer} newer below`;
      const name = isOpen ? `Transcript of ${plainLine(open, 40)}` : 'Activity';
      return isCompact ? lines : [rule(name, below, columns, style), ...lines];
    },
  };
}

/** The part of lines that is `scrolled` back from the newest, as far as there are older ones. */
function windowOf<T>(all: readonly T[], room: number, scrolled: number): { lines: T[]; newer: number } {
  const newer = Math.max(0, Math.min(scrolled, all.length - room));
  return { lines: all.slice(Math.max(0, all.length - newer - room), all.length - newer), newer };
}

const TONES = { usual: undefined, good: 'green', bad: 'red', attention: 'yellow' } as const;
/** Shown with every tone, so that it is clear without colour. */
const SIGNS = { usual: '', good: '✓ ', bad: '✗ ', attention: '! ' } as const;

function activityLines(
  activity: readonly Activity[],
  columns: number,
  room: number,
  scrolled: number,
  style: Style,
): { lines: string[]; newer: number } {
  const { lines: shown, newer } = windowOf(activity, room, scrolled);
  const who = Math.min(MOST_WHO, Math.floor(columns / 5), Math.max(0, ...shown.map((one) => widthOf(one.who))));
  const lines = shown.map((one) => {
    const format = TONES[one.tone];
    const spans: Span[] = [
      ...(columns < 30 ? [] : [{ text: `${clockTime(one.at)} `, format: 'dim' } as const]),
      { text: `${cell(one.who, who)} `, format: 'cyan' },
      { text: `${SIGNS[one.tone]}${one.text}`, format },
    ];
    return line(spans, columns, style);
  });
  return { lines, newer };
}

const SAID: Readonly<Record<Spoken['kind'], { sign: string; format: Span['format'] }>> = {
  turn: { sign: '─ ', format: 'dim' },
  says: { sign: '', format: undefined },
  thinks: { sign: '~ ', format: 'dim' },
  tool: { sign: '> ', format: 'cyan' },
  failed: { sign: '✗ ', format: 'red' },
  notice: { sign: '! ', format: 'yellow' },
};

/** The last lines of a transcript, `most` or more of them if there are so many. */
function transcriptLines(transcript: readonly Spoken[], columns: number, most: number, style: Style): string[] {
  const width = Math.max(1, columns - TIME_WIDTH);
  const parts: string[][] = [];
  let count = 0;
  for (const spoken of transcript.toReversed()) {
    if (count >= most) break;
    const { at, kind } = spoken;
    const { sign, format } = SAID[kind];
    const part = rowsOf(spoken, sign, width).map((row, index) => {
      const time = index === 0 ? `${clockTime(at)} ` : ' '.repeat(TIME_WIDTH);
      return line(
        [
          { text: time, format: 'dim' },
          { text: row, format },
        ],
        columns,
        style,
      );
    });
    parts.unshift(part);
    count += part.length;
  }
  return parts.flat();
}

const wrapped = new WeakMap<Spoken, { readonly width: number; readonly rows: readonly string[] }>();

/** Once for each width: who reads far back in a long transcript wraps all of it. */
function rowsOf(spoken: Spoken, sign: string, width: number): readonly string[] {
  const known = wrapped.get(spoken);
  if (known?.width === width) return known.rows;
  const rows = `${sign}${spoken.text}`.split('\n').flatMap((row) => wrap(row.replaceAll('\t', '  '), width));
  wrapped.set(spoken, { width, rows });
  return rows;
}

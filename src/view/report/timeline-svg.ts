import { oneLine } from './document.ts';
import { utcTime } from '../../text/time.ts';
import { duration } from './report-head.ts';
import { markup, type Markup } from './markup.ts';
import type { Bar, Timeline } from './timeline.ts';

const WIDTH = 1_000;
const LEFT = 130;
const LANE = 30;
const TOP = 26;
const MOST_NAME = 16;
const TICKS = 5;

/** Bars of turns for each agent, with waits behind them. Kinds differ by pattern and letter as well as by colour. */
export function timelineSvg(timeline: Timeline): Markup {
  const { from, to, lanes, waits } = timeline;
  const height = TOP + (lanes.length + 1) * LANE + 24;
  const x = (at: number): number =>
    round(LEFT + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (WIDTH - LEFT - 10));
  const about = `${lanes.length} rows over ${duration(to - from)}, from ${utcTime(from)}. The table below has the same facts.`;
  return markup`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="timeline-title timeline-about">
<title id="timeline-title">Timeline of the run</title><desc id="timeline-about">${about}</desc>
<defs>${PATTERNS}</defs>
${waits.map((wait) => waitBand(wait, x, height))}
${ticks(timeline, x, height)}
<text class="name" x="8" y="${TOP + 19}">waits</text>
${lanes.map(
  ({ agent, bars }, index) =>
    markup`<g><text class="name" x="8" y="${TOP + (index + 1) * LANE + 19}">${oneLine(agent, MOST_NAME)}</text>${bars.map(
      (bar) => barOf(bar, x, TOP + (index + 1) * LANE + 5),
    )}</g>
`,
)}</svg>`;
}

const PATTERNS = markup`<pattern id="failed" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" class="bad-fill"/><rect width="2" height="6" class="stripe"/></pattern><pattern id="limit" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" class="limit-fill"/><circle cx="3" cy="3" r="1.2" class="stripe"/></pattern><pattern id="wall" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" class="limit-fill"/><rect width="6" height="2" class="stripe"/></pattern>`;

const SIGNS: Readonly<Record<Bar['kind'], string>> = { completed: '', failed: '✗', limit: '!', wall: '‖', live: '…' };

function barOf(bar: Bar, x: (at: number) => number, y: number): Markup {
  const { task, attempt, from, to, kind, ended, retry, why } = bar;
  const left = x(from);
  const width = Math.max(2, round(x(to) - left));
  const how = `${ended}${retry ? ', a retry' : ''}, ${duration(to - from)}`;
  const what = `${oneLine(attempt)}: ${how}${why === '' ? '' : `: ${oneLine(why)}`}`;
  const sign = `${retry ? '↻' : ''}${SIGNS[kind]}`;
  const label = `${sign}${sign === '' ? '' : ' '}${oneLine(task)}`;
  const room = Math.floor((width - 6) / 7);
  const shown = label.length <= room ? label : width >= 14 * sign.length ? sign : '';
  const text = shown === '' ? '' : markup`<text class="bar-text" x="${left + 4}" y="${y + 14}">${shown}</text>`;
  return markup`<g><title>${what}</title><rect class="bar ${kind}" x="${left}" y="${y}" width="${width}" height="20" rx="3"/>${text}</g>`;
}

const WAITS_FOR = { time: 'waited for a time', answer: 'waited for a person', resume: 'stopped' } as const;

export function waitText({ for: reason, why, from, until }: Timeline['waits'][number]): string {
  return `${WAITS_FOR[reason]}, ${duration(until - from)}: ${oneLine(why)}`;
}

function waitBand(wait: Timeline['waits'][number], x: (at: number) => number, height: number): Markup {
  const left = x(wait.from);
  const width = Math.max(2, round(x(wait.until) - left));
  return markup`<g><title>${waitText(wait)}</title><rect class="wait-band" x="${left}" y="${TOP}" width="${width}" height="${height - TOP - 24}"/><rect class="wait ${wait.for}" x="${left}" y="${TOP + 5}" width="${width}" height="20" rx="3"/></g>
`;
}

function ticks({ from, to }: Timeline, x: (at: number) => number, height: number): Markup[] {
  return Array.from({ length: TICKS + 1 }, (_, index) => {
    const at = from + ((to - from) * index) / TICKS;
    const anchor = index === TICKS ? 'end' : 'middle';
    return markup`<line class="tick" x1="${x(at)}" x2="${x(at)}" y1="${TOP - 4}" y2="${height - 22}"/><text class="tick-text" text-anchor="${anchor}" x="${x(at)}" y="${TOP - 9}">${duration(at - from)}</text>`;
  });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

import { utcTime } from '../../text/time.ts';
import { type Block, oneLine, type Part, quoteText, type ReportDocument, type Section, type Text } from './document.ts';
import { markup, Markup } from './markup.ts';
import { PAGE_STYLE } from './page-style.ts';
import type { FilePatch, Patch } from './patch.ts';
import { duration } from './report-head.ts';
import type { Bar, Timeline } from './timeline.ts';

const WIDTH = 1_000;
const LEFT = 130;
const LANE = 30;
const TOP = 26;
const MOST_NAME = 16;
const TICKS = 5;

const PATTERNS = markup`<pattern id="failed" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" class="bad-fill"/><rect width="2" height="6" class="stripe"/></pattern><pattern id="limit" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" class="limit-fill"/><circle cx="3" cy="3" r="1.2" class="stripe"/></pattern><pattern id="wall" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" class="limit-fill"/><rect width="6" height="2" class="stripe"/></pattern>`;

const SIGNS: Readonly<Record<Bar['kind'], string>> = { completed: '', failed: '✗', limit: '!', wall: '‖', live: '…' };

const WAITS_FOR = { time: 'waited for a time', answer: 'waited for a person', resume: 'stopped' } as const;

/** Shown on the page besides the report's text. */
export interface PageFacts {
  readonly timeline: Timeline;
  /** undefined: there are no changes to show. */
  readonly patch: Patch | undefined;
  /** The run that the commands name. */
  readonly run: string;
}

/** Titles of the sections to show first. The others follow in their own order. */
/** The last of these comes first, and all other sections after them. */
const LAST_FIRST = ['Tasks', 'Timeline', 'Changes', 'Get the work', 'Stages', 'Not delivered', 'Success criteria'];
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const MOST_ROWS = 500;
const MOST_COMMAND = 1_000;

/** `report.markup`: one file that loads nothing and needs no script. */
export function renderPage({ title, about, sections }: ReportDocument, facts: PageFacts): string {
  const name = plainOf(title);
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
${new Markup(`<style>\n${PAGE_STYLE}</style>`)}
</head>
<body>
<main>
<h1>${textOf(title)}</h1>
<div class="about">${about.map(blockOf)}</div>
${pageSections(sections, facts).map(
  (one) => markup`<section><h2>${one.title}</h2>${one.body}</section>
`,
)}</main>
<footer><p>Times are UTC. <code>squad report ${facts.run}</code> shows this in a terminal.</p></footer>
</body>
</html>
`.text;
}

interface PageSection {
  readonly title: string;
  readonly body: readonly Markup[];
}

/** The sections of the report in the order of a page, with the timeline. */
export function pageSections(sections: readonly Section[], facts: PageFacts): PageSection[] {
  return [
    ...sections.map((one) => ({ title: one.title, body: [...one.blocks.map(blockOf), ...diffOf(one, facts)] })),
    { title: 'Timeline', body: timelineBody(facts.timeline) },
  ].toSorted((a, b) => LAST_FIRST.indexOf(b.title) - LAST_FIRST.indexOf(a.title));
}

export function blockOf(block: Block): Markup {
  switch (block.is) {
    case 'heading':
      return markup`<h3>${textOf(block.text)}</h3>`;
    case 'paragraph':
      return markup`<p>${textOf(block.text)}</p>`;
    case 'list':
      return markup`<ul>${block.items.map((item) => markup`<li>${textOf(item)}</li>`)}</ul>`;
    case 'table':
      return tableOf(block.head, block.rows);
    case 'quote': {
      const { body, missing } = quoteText(block);
      const more = missing === 0 ? '' : markup`<p class="soft">(${missing} more characters)</p>`;
      return markup`<pre>${body}</pre>${more}`;
    }
    case 'commands':
      return markup`<pre><code>${block.lines.map((line) => oneLine(line, MOST_COMMAND)).join('\n')}</code></pre>`;
  }
}

function tableOf(head: readonly string[], rows: readonly (readonly Text[])[]): Markup {
  const cell = (text: Text): Markup => markup`<td>${plainOf(text) === '' ? '–' : textOf(text)}</td>`;
  return markup`<div class="wide" tabindex="0" role="group" aria-label="Table: ${head.join(', ')}"><table><thead><tr>${head.map(
    (name) => markup`<th scope="col">${name}</th>`,
  )}</tr></thead><tbody>${rows.map((row) => markup`<tr>${row.map(cell)}</tr>`)}</tbody></table></div>`;
}

export function textOf(text: Text): Markup {
  if (typeof text === 'string') return markup`${oneLine(text)}`;
  if (!('is' in text)) return markup`${text.map(textOf)}`;
  return partOf(text);
}

function partOf(part: Part): Markup {
  switch (part.is) {
    case 'own':
      return part.tone === undefined ? markup`${part.text}` : markup`<span class="${part.tone}">${part.text}</span>`;
    case 'cut':
      return markup`${oneLine(part.text, part.most)}`;
    case 'code':
      return markup`<code>${oneLine(part.text)}</code>`;
    case 'strong':
      return markup`<strong class="${part.tone ?? ''}">${textOf(part.text)}</strong>`;
  }
}

/** The text without its form. */
function plainOf(text: Text): string {
  if (typeof text === 'string') return oneLine(text);
  if (!('is' in text)) return text.map(plainOf).join('');
  if (text.is === 'cut') return oneLine(text.text, text.most);
  return text.is === 'strong' ? plainOf(text.text) : oneLine(text.text);
}

function diffOf({ title }: Section, { patch, run }: PageFacts): Markup[] {
  if (title !== 'Changes' || patch === undefined) return [];
  const files = patch.missing === 0 ? [] : [markup`<p>${patch.missing} more files: ${commandOf(run)} shows them.</p>`];
  return [markup`<h3>Diff</h3>`, ...patch.files.map((file) => fileOf(file, run)), ...files];
}

function fileOf({ path, added, deleted, lines, missing }: FilePatch, run: string): Markup {
  const more = missing === 0 ? '' : markup`<p>${missing} more lines: ${commandOf(run)} shows them.</p>`;
  const count = markup`<span class="good">${added} added</span>, <span class="bad">${deleted} deleted</span>`;
  return markup`<details><summary><code>${oneLine(path)}</code> (${count})</summary><pre class="diff" tabindex="0" role="group" aria-label="Diff of ${oneLine(path)}">${linesOf(lines)}</pre>${more}</details>
`;
}

function commandOf(run: string): Markup {
  return markup`<code>squad diff ${run}</code>`;
}

function linesOf(lines: readonly string[]): Markup[] {
  const kinds = lineKinds(lines);
  return lines.map((line, index) => markup`<span class="${kinds[index] ?? ''}">${line}</span>`);
}

/** `add`, `del`, `hunk` or nothing: what each line of a file's diff is. */
export function lineKinds(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.startsWith('@@ '));
  return lines.map((line, index) => (first === -1 || index < first ? 'hunk' : (KINDS[line[0] ?? ''] ?? '')));
}

const KINDS: Readonly<Record<string, string>> = { '+': 'add', '-': 'del', '@': 'hunk' };

function timelineBody(timeline: Timeline): Markup[] {
  const bars = timeline.lanes.flatMap(({ agent, bars: own }) => own.map((bar) => ({ agent, bar })));
  const rows = bars.toSorted((a, b) => a.bar.from - b.bar.from).map(({ agent, bar }) => barRow(agent, bar));
  const waits = timeline.waits.map((wait): Text[] => [utcTime(wait.from), waitText(wait)]);
  const left = timeline.left + Math.max(0, rows.length - MOST_ROWS);
  return [
    markup`<p class="soft">A bar is a turn, or a command that squad ran. ↻ a retry, ✗ failed, ! a limit, ‖ a wall: no sign of life, … not over. Grey columns are waits of the whole run: filled for a time, framed for a person, dashed while it was stopped.</p>`,
    markup`<div class="wide" tabindex="0" role="group" aria-label="Timeline">${timelineSvg(timeline)}</div>`,
    markup`<details><summary>The timeline as a table</summary>${tableOf(
      ['started', 'took', 'agent', 'task', 'attempt', 'ended', 'why'],
      rows.slice(0, MOST_ROWS),
    )}${left > 0 ? markup`<p>${left} more: <code>squad log</code> shows them.</p>` : ''}${waits.length === 0 ? '' : tableOf(['since', 'waits'], waits.slice(0, MOST_ROWS))}</details>`,
  ];
}

function barRow(agent: string, { attempt, task, from, to, ended, retry, why }: Bar): Text[] {
  return [utcTime(from), duration(to - from), agent, task, `${attempt}${retry ? ' (retry)' : ''}`, ended, why];
}

/** Bars of turns for each agent, with waits behind them. Kinds differ by pattern and letter as well as by colour. */
function timelineSvg(timeline: Timeline): Markup {
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
      (bar) => drawBar(bar, x, TOP + (index + 1) * LANE + 5),
    )}</g>
`,
)}</svg>`;
}

function drawBar(bar: Bar, x: (at: number) => number, y: number): Markup {
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

function waitText({ for: reason, why, from, until }: Timeline['waits'][number]): string {
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

import { capUseText } from '../../view/cap-use.ts';
import type { Section } from '../../view/report/document.ts';
import { markup, type Markup } from '../../view/report/markup.ts';
import { blockOf, pageSections, textOf } from '../../view/report/page.ts';
import { reportOf } from '../../view/report/report.ts';
import { timelineOf } from '../../view/report/timeline.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { BoardState } from '../board/board-state.ts';
import { activityRegion, agentsRegion } from './agents-part.ts';
import { type Page, type Region, regionOf, idOf } from './page.ts';
import { waitingRegion } from './questions-part.ts';
import type { RunFacts } from './run-facts.ts';
import { teamRegions } from './team-part.ts';
import { worksRegion } from './works-part.ts';

/** Shown by parts of their own: the open questions with a form, and the work with its lines. */
const OWN_PARTS: ReadonlySet<string> = new Set(['Questions', 'Changes']);

/** All that follows from the ledger and from git: the sections of the report among it. */
export function settledRegions(facts: RunFacts): readonly Region[] {
  const { reading, view, mail, now } = facts;
  const document = reportOf(reading, view, now, undefined, mail);
  const sections: readonly Section[] = document.sections.filter(({ title }) => !OWN_PARTS.has(title));
  const page = { timeline: timelineOf(reading, now), patch: undefined, run: view.run.name };
  const head = markup`<div id="head"><h1>${textOf(document.title)}</h1><div class="about">${document.about.map(blockOf)}</div>${capsOf(facts)}${nextOf(facts)}</div>`;
  return [
    { id: 'head', html: head },
    waitingRegion(facts),
    ...teamRegions(facts.team),
    worksRegion(facts),
    ...pageSections(sections, page).map(({ title, body }) => regionOf(idOf('part', title), title, body)),
  ];
}

/** The parts that change with each word of an agent. */
export function liveRegions(board: BoardState, { reading, view }: RunFacts): readonly Region[] {
  return [agentsRegion(board, { reading, isOver: view.end !== null }), activityRegion(board)];
}

/** First stands what waits for a person, and then who does what now. */
export function runPage({ view }: RunFacts, settled: readonly Region[], live: readonly Region[]): Page {
  const { name } = view.run;
  const count = asksOf(view).length;
  const [first, waiting, ...others] = settled;
  const [agents, ...more] = live;
  return {
    title: `${count === 0 ? '' : `(${count}) `}${name}: ${view.run.state}`,
    news: newsOf({ view }, count),
    regions: [first, waiting, agents, ...others, ...more].flatMap((one) => one ?? []),
  };
}

function asksOf({ questions, waits }: RunFacts['view']): readonly string[] {
  return [...waits.asks.map(({ id }) => id), ...questions.map(({ id }) => id)];
}

function newsOf({ view }: Pick<RunFacts, 'view'>, count: number): string {
  const { name, state } = view.run;
  if (count > 0) return `${name} waits for you: ${counted(count, 'open question')}.`;
  return view.end === null ? `${name} is ${state}.` : `${name}: ${plainLine(view.end.headline, 300)}`;
}

/** The use of the run, with its limits. */
function capsOf({ view }: RunFacts): Markup {
  const own = view.use.caps.filter(({ level }) => level === 'run');
  return markup`<ul class="caps" aria-label="Used so far">${own.map(
    (cap) => markup`<li${cap.reached ? markup` class="bad"` : ''}>${capUseText(cap)}</li>`,
  )}</ul>`;
}

function nextOf({ reading, view }: RunFacts): Markup | string {
  if (reading.driven || view.next.length === 0) return '';
  return markup`<p>No engine is running. Next, in a terminal:</p><pre><code>${view.next.join('\n')}</code></pre>`;
}

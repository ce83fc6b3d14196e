import { utcTime } from '../../text/time.ts';
import { howEnded } from '../../view/sentence.ts';
import { markup, type Markup } from '../../view/report/markup.ts';
import { spanText } from '../../text/duration.ts';
import { counted } from '../../text/counted.ts';
import type { TurnRecord, TurnStep } from '../show/turn-record.ts';
import { type Page, regionOf, scrollingList } from './page.ts';

/** One turn: what was asked, what its agent said and did, and the answer. */
export function turnPage(turn: TurnRecord, run: string): Page {
  const { attempt, agent, task, runtime, claimedAt, prompt, result } = turn;
  const state = result === null ? 'at work' : howEnded(result);
  const took = result === null ? '' : ` after ${spanText(result.durationMs)}`;
  const head = markup`<div id="head"><h1>${attempt}</h1><p>Turn of ${agent} (${runtime}) on ${task} in <a href="../">${run}</a>, begun ${utcTime(claimedAt)}: ${state}${took}.</p></div>`;
  return {
    title: `${attempt} of ${run}: ${state}`,
    news: result === null ? '' : `${attempt} has ended: ${state}.`,
    regions: [
      { id: 'head', html: head },
      regionOf('prompt', 'Prompt', prompt === null ? markup`<p>It is not kept.</p>` : markup`<pre>${prompt}</pre>`),
      regionOf('steps', 'What it said and did', stepsOf(turn)),
      ...(result === null || result.text === ''
        ? []
        : [regionOf('answer', 'Answer', markup`<pre>${result.text}</pre>`)]),
    ],
  };
}

function stepsOf({ steps, gone, dropped, result }: TurnRecord): Markup {
  if (steps === null) return markup`<p>${gone ?? 'Its output is not there.'}</p>`;
  if (steps.length === 0) return markup`<p>${result === null ? 'Nothing yet.' : 'Nothing before its answer.'}</p>`;
  const left = dropped === 0 ? '' : markup`<p>${counted(dropped, 'step')} in the middle are left out.</p>`;
  return markup`${left}${scrollingList('Steps', steps.map(stepOf), result === null)}`;
}

function stepOf(step: TurnStep): Markup {
  if (step.did !== 'used') return markup`<li><span class="soft">${step.did}</span> ${step.text}</li>`;
  const { tool, target, result, output } = step;
  const tone = result === 'failed' || result === 'denied' ? 'bad' : '';
  return markup`<li><span class="soft">${tool}</span> ${target} <span class="${tone}">${result ?? 'not over'}</span>${
    output === '' ? '' : markup`<pre>${output}</pre>`
  }</li>`;
}

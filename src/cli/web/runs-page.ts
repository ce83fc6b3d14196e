import { costText } from '../../model/amount.ts';
import type { RunState } from '../../model/run-state.ts';
import { counted } from '../../text/counted.ts';
import type { RunSummary } from '../../view/run-summary.ts';
import { markup, type Markup } from '../../view/report/markup.ts';
import { utcTime } from '../../text/time.ts';
import type { ShownTeam } from '../../view/sprint/shown-team-schema.ts';
import { type Page, type Region, regionOf, idOf } from './page.ts';
import { teamInList } from './team-part.ts';

/** A run in the list. */
interface ListedRun extends RunSummary {
  /** Questions without an answer. */
  readonly open: number;
  /** Its place in the queue, from 1 on, and what it waits for besides an engine; null: it is not there. */
  readonly queued: { readonly place: number; readonly waits: string | null } | null;
}

/** The runs of one repository, the newest first. */
export interface RepositoryRuns {
  readonly id: string;
  readonly name: string;
  readonly root: string;
  readonly runs: readonly ListedRun[];
  /** Absent: no team works there. */
  readonly team?: ShownTeam | undefined;
}

/** The list of all runs. */
export function runsPage(repositories: readonly RepositoryRuns[]): Page {
  const all = repositories.flatMap(({ runs }) => runs);
  const asking = all.filter(({ open }) => open > 0);
  const names = asking.map(({ name }) => name).join(', ');
  return {
    title: `${asking.length === 0 ? '' : `(${asking.length}) `}Runs of squad`,
    news: asking.length === 0 ? 'No run waits for an answer.' : `Waiting for your answer: ${names}.`,
    regions: [{ id: 'head', html: markup`<div id="head"><h1>Runs</h1></div>` }, ...repositories.map(repositoryRegion)],
  };
}

function repositoryRegion({ id, name, root, runs, team }: RepositoryRuns): Region {
  return regionOf(idOf('repository', id), name, [
    markup`<p class="soft">${root}</p>`,
    ...(team === undefined ? [] : [teamInList(team, idOf('backlog', id), (run) => addressOf(id, run))]),
    runs.length === 0
      ? markup`<p>There is no run here yet. Start one: <code>squad run objective.md</code></p>`
      : markup`<ul class="cards">${runs.map((run) => runOf(id, run))}</ul>`,
  ]);
}

function addressOf(repository: string, run: string): string {
  return `${encodeURIComponent(repository)}/${encodeURIComponent(run)}/`;
}

function queuedText({ place, waits }: NonNullable<ListedRun['queued']>): string {
  return `place ${place} in the queue${waits === null ? '' : `: ${waits}`}`;
}

const TONES: Partial<Record<RunState, string>> = { done: 'good', failed: 'bad' };

function runOf(repository: string, run: ListedRun): Markup {
  const { runId, name, objective, state, createdAt, usage, tasks, stage, headline, why, open, queued } = run;
  const facts = [
    `${queued === null ? 'started' : 'added'} ${utcTime(createdAt)}`,
    `${tasks.done} of ${tasks.all} tasks`,
    ...(stage === null ? [] : [`stage ${stage.id} (${stage.place}/${stage.of})`]),
    usage.costUsd === null ? 'cost unknown' : costText(usage),
  ];
  const outcome = queued === null ? (headline ?? why) : queuedText(queued);
  const asks = open === 0 ? '' : markup`<p class="attention"><strong>${counted(open, 'open question')}</strong></p>`;
  return markup`<li class="card" data-key="${idOf('run', runId)}"><h3><a href="${addressOf(repository, runId)}">${name}</a> <span class="${TONES[state] ?? 'attention'}">${state}</span></h3>${asks}<p>${objective}</p>${
    outcome === null ? '' : markup`<p>${outcome}</p>`
  }<p class="soft">${facts.join(' · ')}</p></li>`;
}

import { attemptName } from '../../model/attempt-id.ts';
import { MOST_NOTE } from '../../model/plan/verbs.ts';
import { utcTime } from '../../text/time.ts';
import { counted } from '../../text/counted.ts';
import { markup, type Markup } from '../../view/report/markup.ts';
import type { RunHistory } from '../../view/read-run.ts';
import { howEnded } from '../../view/sentence.ts';
import type { AgentFacts, BoardState, Spoken } from '../board/board-state.ts';
import { idOf, type Region, regionOf, scrollingList } from './page.ts';

/** For each agent; a turn has a page with more. */
const MOST_STEPS = 80;
const MOST_TURNS = 30;
const MOST_ACTIVITY = 60;

interface About {
  readonly reading: Pick<RunHistory, 'attempts' | 'driven'>;
  /** Its agents have no next turn. */
  readonly isOver: boolean;
}

/** Who does what now, what each has said and done, and a form to tell it something. */
export function agentsRegion(board: BoardState, about: About): Region {
  const working = [...board.live.values()].filter(({ kind }) => kind === 'turn').length;
  return regionOf('agents', 'Agents', [
    markup`<p>${working === 0 ? 'None is at work.' : `${counted(working, 'turn')} at work.`}</p>`,
    markup`<div class="cards">${[...board.agents.values()].map((agent) => agentOf(agent, board, about))}</div>`,
  ]);
}

function agentOf(agent: AgentFacts, board: BoardState, about: About): Markup {
  const own = idOf('agent', agent.name);
  const { name, role, model, transcript } = agent;
  const steps = transcript.slice(-MOST_STEPS).toReversed();
  return markup`<article data-key="${own}" class="card" aria-labelledby="${own}"><h3 id="${own}">${name}</h3><p class="soft">${role}, ${model}</p>${doingOf(agent, board)}
${steps.length === 0 ? '' : markup`<details data-key="${own}-steps"><summary>What ${name} says and does, the newest first</summary>${scrollingList(`Steps of ${name}`, steps.map(stepOf))}</details>`}
${turnsOf(name, own, about)}
${about.isOver ? '' : tellForm(name, own)}</article>`;
}

function doingOf({ name, idleSince }: AgentFacts, { live }: BoardState): Markup {
  const own = [...live.values()].filter((one) => one.agent === name && one.kind === 'turn');
  if (own.length === 0) {
    return markup`<p>${idleSince === undefined ? 'Has had no turn yet.' : `Idle since ${utcTime(idleSince)}.`}</p>`;
  }
  return markup`${own.map(
    ({ task, doing, since }) =>
      markup`<p><strong class="good">At work</strong> on <code>${task}</code> since ${utcTime(since)}${doing.text === '' ? '' : markup`: ${doing.text}`}</p>`,
  )}`;
}

const DID: Readonly<Record<Spoken['kind'], string>> = {
  turn: 'turn',
  says: 'says',
  thinks: 'thinks',
  tool: 'tool',
  failed: 'failed',
  notice: 'notice',
};

function stepOf({ kind, text, at }: Spoken): Markup {
  return markup`<li class="${kind}"><span class="soft">${utcTime(at).slice(11, 19)} ${DID[kind]}</span> ${text}</li>`;
}

function turnsOf(name: string, own: string, { reading }: About): Markup | string {
  const turns = reading.attempts.filter(({ attempt }) => attempt.kind === 'turn' && attempt.agent === name);
  if (turns.length === 0) return '';
  const shown = turns.slice(-MOST_TURNS).toReversed();
  return markup`<details data-key="${own}-turns"><summary>${counted(turns.length, 'turn')} of ${name}</summary><ul>${shown.map(
    ({ attempt, settlement }) =>
      markup`<li><a href="turns/${encodeURIComponent(attempt.id)}">${attemptName(attempt)}</a>: ${settlement === undefined ? 'at work' : howEnded(settlement.result)}</li>`,
  )}</ul></details>`;
}

function tellForm(name: string, own: string): Markup {
  return markup`<details data-key="${own}-tell"><summary>Tell ${name} something</summary><form data-act="tell"><input type="hidden" name="agent" value="${name}"><label for="${own}-note">Note for ${name}</label><textarea id="${own}-note" name="text" rows="3" maxlength="${MOST_NOTE}" required></textarea><p><label><input type="checkbox" name="now"> End its turn at work first; it continues with the note</label></p><p class="buttons"><button>Send the note</button></p></form></details>`;
}

/** The newest first. */
export function activityRegion({ activity }: BoardState): Region {
  const shown = activity.slice(-MOST_ACTIVITY).toReversed();
  return regionOf(
    'activity',
    'Activity',
    shown.length === 0
      ? markup`<p>Nothing has happened yet.</p>`
      : scrollingList(
          'Activity, the newest first',
          shown.map(
            ({ at, who, text, tone }) =>
              markup`<li class="${tone}"><span class="soft">${utcTime(at).slice(11, 19)} ${who}</span> ${text}</li>`,
          ),
        ),
  );
}

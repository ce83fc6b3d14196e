import type { RunEvent } from '../../model/run-event.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { toolTarget } from '../../text/tool-target.ts';
import { withEntry, type BoardState, type Spoken } from './board-state.ts';

/** Kept of each agent. */
const MOST_SPOKEN = 400;
const MOST_TEXT = 4_000;

type OfTurn = Extract<RunEvent, { attemptId: string; agent: string }>;

/** What a live turn reports changes what its agent does, and its transcript. */
export function takeTurnEvent(state: BoardState, event: OfTurn & TurnEvent): BoardState {
  const attempt = state.live.get(event.attemptId);
  const text = doingOf(event, attempt?.doing.text ?? '');
  const live =
    attempt === undefined || text === undefined
      ? state.live
      : withEntry(state.live, event.attemptId, { ...attempt, doing: { text, since: event.at } });
  const agent = state.agents.get(event.agent);
  if (agent === undefined) return { ...state, live };
  const spoken = spokenOf(event);
  const announced = event.type === 'session-announced' ? event.model : undefined;
  const model = announced === undefined ? agent.model : plainLine(announced, 60);
  if (spoken === undefined && model === agent.model) return { ...state, live };
  const transcript = spoken === undefined ? agent.transcript : transcriptWith(agent.transcript, spoken);
  return { ...state, live, agents: withEntry(state.agents, event.agent, { ...agent, model, transcript }) };
}

export function transcriptWith(transcript: readonly Spoken[], spoken: Spoken): readonly Spoken[] {
  return [...transcript.slice(1 - MOST_SPOKEN), spoken];
}

/** One line; undefined: that stays as it was. */
function doingOf(event: TurnEvent, before: string): string | undefined {
  switch (event.type) {
    case 'text':
      return event.delta ? undefined : lastSentence(event.text) || before;
    case 'tool-started':
      return toolText(event);
    case 'thinking':
      return 'thinks';
    case 'files-changed':
      return changedText(event);
    case 'retry-scheduled':
      return plainLine(`tries again: ${event.message}`, 400);
    case 'session-announced':
    case 'tool-ended':
    case 'notice':
      return undefined;
    default:
      return event satisfies never;
  }
}

function spokenOf(event: TurnEvent): Spoken | undefined {
  const { at } = event;
  switch (event.type) {
    case 'text':
      return event.delta ? undefined : { at, kind: 'says', text: bounded(event.text) };
    case 'thinking':
      return { at, kind: 'thinks', text: bounded(event.text) };
    case 'tool-started':
      return { at, kind: 'tool', text: toolText(event) };
    case 'tool-ended':
      if (event.ok) return undefined;
      return {
        at,
        kind: 'failed',
        text: `${event.denied ? 'denied' : 'failed'}: ${plainLine(event.output ?? '', 400)}`,
      };
    case 'files-changed':
      return { at, kind: 'tool', text: changedText(event) };
    case 'retry-scheduled':
      return { at, kind: 'notice', text: plainLine(`tries again: ${event.message}`, 400) };
    case 'notice':
      return { at, kind: 'notice', text: plainLine(event.text, 400) };
    case 'session-announced':
      return undefined;
    default:
      return event satisfies never;
  }
}

/** `Edit src/login.ts`, `github/search issues`. */
export function toolText({ tool, server, input }: Extract<TurnEvent, { type: 'tool-started' }>): string {
  const name = server === undefined ? tool : `${server}/${tool}`;
  return plainLine(`${name} ${toolTarget(input)}`, 400);
}

function changedText({ changes }: Extract<TurnEvent, { type: 'files-changed' }>): string {
  return plainLine(`changed ${changes.map(({ path }) => path).join(', ')}`, 400);
}

/** People read the end of what an agent said: what it does next. */
function lastSentence(text: string): string {
  const line = plainLine(text.slice(-2_000), 2_000);
  return line.split(/(?<=[.!?]) /u).at(-1) ?? '';
}

function bounded(text: string): string {
  return plainText(text.slice(0, MOST_TEXT).toWellFormed()).trim();
}

import type { RunEvent } from '../../model/run-event.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import { sentenceOf } from '../../view/sentence.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { withEntry, type BoardState, type Spoken } from './board-state.ts';

/** Kept of each agent. */
const MOST_SPOKEN = 400;
const MOST_TEXT = 4_000;

type OfTurn = Extract<RunEvent, { attemptId: string; agent: string }>;

/** Updates the activity of the agent, its model and its transcript. */
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
    case 'thinking':
      return 'thinks';
    case 'tool-started':
    case 'files-changed':
    case 'retry-scheduled':
      return sentenceOf(event)?.said;
    case 'session-announced':
    case 'tool-ended':
    case 'notice':
      return undefined;
    default:
      return event satisfies never;
  }
}

const KINDS = {
  'tool-started': 'tool',
  'tool-ended': 'failed',
  'files-changed': 'tool',
  'retry-scheduled': 'notice',
  notice: 'notice',
} as const;

/** Speech and thoughts keep their line breaks; all else is one line. undefined: not for the transcript. */
function spokenOf(event: TurnEvent): Spoken | undefined {
  const { at, type } = event;
  if (type === 'session-announced') return undefined;
  if (type === 'thinking') return { at, kind: 'thinks', text: bounded(event.text) };
  if (type === 'text') return event.delta ? undefined : { at, kind: 'says', text: bounded(event.text) };
  const text = sentenceOf(event)?.said;
  return text === undefined ? undefined : { at, kind: KINDS[type], text };
}

/** People read the end of what an agent said: what it does next. */
function lastSentence(text: string): string {
  const line = plainLine(text.slice(-2_000), 2_000);
  return line.split(/(?<=[.!?]) /u).at(-1) ?? '';
}

function bounded(text: string): string {
  return plainText(text.slice(0, MOST_TEXT).toWellFormed()).trim();
}

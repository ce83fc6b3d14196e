import { assertNever } from '../model/assert-never.ts';
import { TURN_EVENTS } from '../model/run-event.ts';
import type { TurnEvent } from '../model/turn-event.ts';
import { plainLine } from '../text/plain-text.ts';
import { toolTarget } from '../text/tool-target.ts';

/** One event of a run in words, the same in each view. Plain text, each part in one line. */
export interface Sentence {
  /** The word that a line of the log begins with; empty: lines of other events say it. */
  readonly label: string;
  /** The rest of that line. */
  readonly line: string;
  /** Whom the board names beside it: an agent, a task, a person or squad. */
  readonly who: string;
  /** The line without `who`, which has a column of its own on the board. Absent: the board says nothing. */
  readonly said?: string;
  readonly tone: Tone;
}

export type Tone = 'usual' | 'good' | 'bad' | 'attention';

/** The words for what a turn reports; undefined for a part of a text. */
export function turnSentence(event: TurnEvent, who: string): Sentence | undefined {
  const usual = { who, tone: 'usual' } as const;
  switch (event.type) {
    case 'session-announced': {
      const model = event.model === undefined ? '' : `, ${plainLine(event.model)}`;
      return { ...usual, label: 'session', line: `${plainLine(event.id)}${event.resumed ? ' (resumed)' : ''}${model}` };
    }
    case 'text':
      return event.delta ? undefined : { ...usual, label: 'says', line: plainLine(event.text), said: event.text };
    case 'thinking':
      return { ...usual, label: 'thinks', line: plainLine(event.text) };
    case 'tool-started': {
      const tool = event.server === undefined ? event.tool : `${event.server}/${event.tool}`;
      const line = `${plainLine(tool, 60)} ${plainLine(JSON.stringify(event.input) ?? '', 120)}`;
      return { ...usual, label: 'tool', line, said: plainLine(`${tool} ${toolTarget(event.input)}`, 400) };
    }
    case 'tool-ended': {
      const { ok, denied, input, output = '' } = event;
      const call = input === undefined ? '' : `${plainLine(JSON.stringify(input) ?? '', 120)} `;
      const line = `${call}${plainLine(output, 160)}`;
      if (ok) return { ...usual, label: 'tool ok', line };
      const said = `${denied ? 'denied' : 'failed'}: ${plainLine(output, 400)}`;
      return { who, tone: 'bad', label: denied ? 'tool DENY' : 'tool FAIL', line, said };
    }
    case 'files-changed': {
      const line = event.changes.map(({ kind, path }) => `${kind} ${plainLine(path, 120)}`).join(', ');
      return { ...usual, label: 'files', line, said: plainLine(line, 400) };
    }
    case 'retry-scheduled': {
      const line = `${event.failure}: ${plainLine(event.message)}`;
      return { who, tone: 'attention', label: 'retries', line, said: `retries, ${line}` };
    }
    case 'notice':
      return { ...usual, label: 'notice', line: plainLine(event.text), said: plainLine(event.text, 400) };
    default:
      return assertNever(event);
  }
}

/** Events of a run have other types if no turn reported them. */
export function isTurnEvent<T extends { type: string }>(event: T): event is T & TurnEvent {
  return TURN_EVENTS.some((type) => type === event.type);
}

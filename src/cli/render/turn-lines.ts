import type { TurnEvent } from '../../model/turn-event.ts';
import { turnSentence } from '../../view/turn-sentence.ts';
import { lineOf } from './run-lines.ts';

/** One event of a turn as one line for people. */
export function renderEvent(event: TurnEvent): string | undefined {
  return lineOf(turnSentence(event, ''));
}

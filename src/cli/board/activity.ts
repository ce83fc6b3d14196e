import type { RunEvent } from '../../model/run-event.ts';
import { sentenceOf } from '../../view/sentence.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Activity, BoardState } from './board-state.ts';

/** One event of a run as a line of the activity; undefined for what other parts of the frame show, or what is only noise. */
export function activityOf(event: RunEvent, before: BoardState): Activity | undefined {
  const sentence = isShown(event, before) ? sentenceOf(event) : undefined;
  if (sentence?.said === undefined) return undefined;
  const { who, said, tone } = sentence;
  return { at: event.at, who: plainLine(who, 40), text: plainLine(said.slice(0, 2_000), 400), tone };
}

function isShown(event: RunEvent, before: BoardState): boolean {
  switch (event.type) {
    case 'task-changed':
      return before.tasks.get(event.task) === undefined || ENDS.has(event.status);
    case 'stage-changed':
      return event.change === 'state' && event.stage.state !== 'waiting';
    case 'attempt-taken':
      return event.kind === 'turn';
    case 'decided':
      return isNews(event, before);
    case 'files-changed':
      return false;
    default:
      return true;
  }
}

const ENDS: ReadonlySet<string> = new Set(['done', 'failed', 'cancelled', 'skipped']);

/** A waiting run repeats its decision after every input. */
function isNews(event: Extract<RunEvent, { type: 'decided' }>, { decided }: BoardState): boolean {
  const { next, why, until } = event;
  if (next === 'start' || next === 'ask' || (next === 'wait' && until === undefined)) return false;
  return decided?.next !== next || decided.why !== why || decided.until !== until;
}

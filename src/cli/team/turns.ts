import type { RunEvent } from '../../model/run-event.ts';
import { isTurnEvent } from '../../view/turn-sentence.ts';
import { followRun, type FollowPorts } from '../../squad/follow-run.ts';
import { renderRunEvent } from '../render/run-lines.ts';
import { renderEvent } from '../render/turn-lines.ts';

/** The pane names this many of the turns that ended before it was opened. */
const MOST_EARLIER = 5;

export type Turns = ReturnType<typeof followTurns>;

/** An agent's turns with the output of the live one. `print` shows a line. */
export function followTurns(ports: FollowPorts, print: (line: string) => void, runId: string, agent: string) {
  let events: RunEvent[] | undefined = [];
  const show = (event: RunEvent): void => {
    const line = isTurnEvent(event) ? renderEvent(event) : renderRunEvent(event);
    if (line !== undefined) print(isTurnEvent(event) ? `  ${line}` : line);
  };
  const take = (event: RunEvent): void => {
    if (events === undefined) show(event);
    else events.push(event);
  };
  const run = followRun(ports, runId, undefined, take, agent);
  return {
    /** Shows what is new, in order. Calls must not overlap. */
    look: async (): Promise<void> => {
      await run.look();
      for (const event of withoutEarlier(events ?? [])) show(event);
      events = undefined;
    },
    close: run.close,
  };
}

/** Reduces turns that have ended to the end events of the last few. */
function withoutEarlier(events: readonly RunEvent[]): readonly RunEvent[] {
  const ends = events.filter(({ type }) => type === 'attempt-ended');
  const over = new Set(ends.map((event) => 'attemptId' in event && event.attemptId));
  return [
    ...ends.slice(-MOST_EARLIER),
    ...events.filter((event) => !('attemptId' in event && over.has(event.attemptId))),
  ];
}

import type { Redactor } from '../../model/redaction/redactor.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import { defined } from '../../text/defined.ts';
import type { Turn } from '../../runtimes/port/agent-runtime.ts';

type OnEvent = (event: TurnEvent) => void;
type Complete = (redacted: TurnResult) => TurnResult;
type Delta = Extract<TurnEvent, { type: 'text' }>;

export interface TurnRedaction {
  readonly onEvent: OnEvent;
  /** Returns the turn with a redacted result, safe to store and to show. */
  turn(turn: Turn): Turn;
}

/**
 * Removes secrets from what an agent or a check reports, before squad stores or shows any of it (bar S9). Keeps back the end of
 * a text that comes in pieces, because a secret may continue in the next piece. `complete` adds to the redacted result.
 */
export function redactTurn(
  redactor: Redactor,
  onEvent: OnEvent,
  complete: Complete = (result) => result,
): TurnRedaction {
  const stream = redactor.stream();
  let last: Delta | undefined;
  const emit = (delta: Delta, text: string): void => {
    if (text !== '') onEvent({ ...delta, text });
  };
  const flush = (): void => {
    if (last === undefined) return;
    const delta = last;
    last = undefined;
    emit(delta, stream.end());
  };
  const result = async (of: Turn): Promise<TurnResult> => {
    const ended = await of.result;
    flush();
    const { session } = ended;
    // The session id must stay exact: a resume uses it.
    return complete({ ...redactor.json(ended), ...defined({ session }) });
  };
  return {
    onEvent: (event) => {
      if (event.type !== 'text' || !event.delta) {
        flush();
        return onEvent(redactor.json(event));
      }
      if (last !== undefined && last.agent !== event.agent) flush();
      last = event;
      emit(event, stream.push(event.text));
    },
    turn: (turn) => {
      const redacted = result(turn);
      return {
        result: redacted,
        cancel: async (reason) => {
          await turn.cancel(reason);
          return redacted;
        },
        detach: async () => turn.detach(),
        activity: () => turn.activity(),
      };
    },
  };
}

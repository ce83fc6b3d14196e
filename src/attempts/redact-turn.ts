import type { Redactor } from '../model/redaction/redactor.ts';
import type { TurnEvent } from '../model/turn-event.ts';
import type { TurnResult } from '../model/turn-result.ts';
import type { Turn } from '../runtimes/port/agent-runtime.ts';

type OnEvent = (event: TurnEvent) => void;
type Delta = Extract<TurnEvent, { type: 'text' }>;

export interface TurnRedaction {
  readonly onEvent: OnEvent;
  /** The same turn, with a result that can be stored and shown. */
  turn(turn: Turn): Turn;
}

/**
 * The one place that what an agent or a check said goes through before anything of it is stored or shown (bar S9). Texts
 * that come in pieces are held back as far as a secret could go on in the next one.
 */
export function redactTurn(redactor: Redactor, onEvent: OnEvent): TurnRedaction {
  const stream = redactor.stream();
  let last: Delta | undefined;
  const tell = (delta: Delta, text: string): void => {
    if (text !== '') onEvent({ ...delta, text });
  };
  const flush = (): void => {
    if (last === undefined) return;
    const delta = last;
    last = undefined;
    tell(delta, stream.end());
  };
  const result = async (of: Turn): Promise<TurnResult> => {
    const ended = await of.result;
    flush();
    const { session } = ended;
    // A session is resumed by its very id.
    return { ...redactor.json(ended), ...(session === undefined ? {} : { session }) };
  };
  return {
    onEvent: (event) => {
      if (event.type !== 'text' || !event.delta) {
        flush();
        return onEvent(redactor.json(event));
      }
      if (last !== undefined && last.agent !== event.agent) flush();
      last = event;
      tell(event, stream.push(event.text));
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

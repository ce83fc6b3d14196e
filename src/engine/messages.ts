import type { Attempt } from '../model/attempt.ts';
import { attemptOrderSchema } from '../model/attempt-order.ts';
import { plainJson } from '../text/json.ts';
import type { TurnResult } from '../model/turn-result.ts';
import type { NewMessage } from '../substrate/ports/ledger.ts';

/** Longer answers are in the settlement, which the message comes with. */
const MOST_TEXT = 4_000;

/** The hand-off or feedback of a completed turn. Its words carry no authority: what follows is decided from the settlement. */
export function messagesOf(attempt: Attempt, { outcome, text, structured }: TurnResult): NewMessage[] {
  if (attempt.kind !== 'turn' || outcome !== 'completed') return [];
  const order = attemptOrderSchema.safeParse(JSON.parse(attempt.request)).data;
  if (order?.handOver === undefined) return [];
  const { type, to } = order.handOver;
  const body = plainJson({ task: attempt.taskId, text: text.slice(0, MOST_TEXT), structured });
  return [{ id: `${attempt.id}-m1`, from: attempt.agent, to, type, body }];
}

import { humanLine } from '../../model/mail/human-line.ts';
import type { MailAction } from '../../model/mail/kind.ts';
import { MAIN, type MailType } from '../../model/mail/vocabulary.ts';
import type { Json } from '../../text/json.ts';
import type { PlanEffect } from '../../model/plan/effect.ts';
import type { PlanInput } from '../decisions/plan-step.ts';
import type { NodeContext } from './node-context.ts';

interface Told {
  readonly from: string;
  readonly to: readonly string[];
  readonly kind: MailType;
  readonly action?: MailAction | undefined;
  readonly task?: string | undefined;
  readonly body: Json;
}

/** Tells the host of mail that came in, and of answers that did not. */
export function tellMailIn(context: NodeContext, inputs: readonly PlanInput[]): void {
  for (const input of inputs) {
    if (!('event' in input)) continue;
    const { event } = input;
    if (event.type === 'overdue') {
      const { message, to, action } = event;
      const { at, runId } = moment(context);
      const about = action === undefined ? {} : { action };
      context.ports.onEvent({ type: 'mail-overdue', at, runId, message, to, ...about });
    }
    if (event.type !== 'mail' || event.kind === 'hand-off' || event.kind === 'feedback') continue;
    tell(context, { ...event, kind: event.kind });
  }
}

/** Tells the host of mail that a step sends. */
export function tellMailOut(context: NodeContext, effects: readonly PlanEffect[]): void {
  for (const effect of effects) {
    if (effect.effect !== 'send') continue;
    const { from = MAIN, type, ...message } = effect.message;
    tell(context, { ...message, kind: type, from });
  }
}

function tell(context: NodeContext, { from, to, kind, action, task, body }: Told): void {
  const { at, runId } = moment(context);
  const what = action === undefined ? {} : { action };
  const about = task === undefined ? {} : { task };
  const shown = { from, to, type: kind, ...what, ...(task === undefined ? {} : { task_id: task }) };
  const line = humanLine(shown, JSON.stringify(body), 'en');
  context.ports.onEvent({ type: 'mail', at, runId, from, to: [...to], kind, ...what, ...about, line });
}

function moment({ ports }: NodeContext): { readonly at: number; readonly runId: string } {
  return { at: ports.clock.now(), runId: ports.lease.runId };
}

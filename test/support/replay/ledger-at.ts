import { z } from 'zod';
import { isInput } from '../../../src/rules/read-input.ts';
import type { LedgerEvent } from '../../../src/model/ledger-event.ts';
import type { ApplyAnswer, ApplyInput, Ledger, RunRow } from '../../../src/substrate/ports/ledger.ts';
import { timersAt } from '../../../src/view/fork-plan.ts';

/** Where a replay is in the record. */
export interface ReplayPlace {
  /** All inputs up to here are decided on. */
  readonly applied: number;
  /** The last input that is there. */
  readonly inputs: number;
  /** The last other event that is there. */
  readonly position: number;
  /** The last event before the next step. */
  readonly seen: number;
}

/** The ledger of a run as its engine saw it at a place of its record. What is applied is not written. */
export function ledgerAt(
  ledger: Ledger,
  row: RunRow,
  events: readonly LedgerEvent[],
  at: { place: () => ReplayPlace; apply: (input: ApplyInput) => ApplyAnswer },
): Ledger {
  const isThere = (event: LedgerEvent): boolean => {
    const { inputs, position } = at.place();
    return event.seq <= (isInput(event) ? inputs : position);
  };
  return {
    ...ledger,
    apply: at.apply,
    run: () => ({ ...row, applied: at.place().applied }),
    events: ({ after = 0, limit = Infinity, types }) =>
      events
        .filter((event) => event.seq > after && isThere(event) && types?.includes(event.type) !== false)
        .slice(0, limit),
    spending: (runId) => ledger.spending(runId, at.place().seen),
    dueTimers: () => timersAt(events, at.place().applied).map((timer) => ({ runId: row.id, ...timer })),
    // Those that fired are inputs on record.
    fireTimer: () => undefined,
    note: () => 0,
    dataVersion: () => 0,
    mail: mailAt(ledger.mail, events, () => at.place().seen),
  };
}

const sentSchema = z.object({ id: z.string() });
const readSchema = z.object({ to: z.string(), ids: z.array(z.string()) });

function mailAt(mail: Ledger['mail'], events: readonly LedgerEvent[], seen: () => number): Ledger['mail'] {
  const sent = new Map<string, number>();
  const read = new Map<string, number>();
  for (const { type, data, seq } of events) {
    const message = type === 'mail-sent' ? sentSchema.safeParse(data).data : undefined;
    if (message !== undefined) sent.set(message.id, seq);
    const { to, ids } = (type === 'mail-accepted' ? readSchema.safeParse(data).data : undefined) ?? { to: '', ids: [] };
    for (const id of ids) read.set(`${id} ${to}`, seq);
  }
  return {
    ...mail,
    tick: () => 0,
    receivers: () => undefined,
    // The steps that mail caused are on record.
    finish: () => true,
    replies: (corr) => mail.replies(corr).filter(({ id }) => (sent.get(id) ?? 0) <= seen()),
    deliveries: (id) =>
      mail.deliveries(id).map((delivery) => {
        const isRead = (read.get(`${id} ${delivery.recipient}`) ?? Infinity) <= seen();
        return delivery.state === 'accepted' && !isRead ? { ...delivery, state: 'waiting' } : delivery;
      }),
  };
}

import type { MailRefusal } from '../../../model/mail/refusal.ts';
import { appendEvent, type NewEvent } from '../events.ts';
import type { Store } from '../store.ts';
import type { MailParty } from '../../ports/mailbox.ts';

export interface Refused {
  readonly by: MailParty['by'] | 'engine' | 'token';
  /** null: nobody's. */
  readonly address: string | null;
}

/** Within a write transaction: what was refused is on record, by its rule and never by what it said. */
export function recordRefusal(
  store: Store,
  event: Pick<NewEvent, 'stream' | 'cause' | 'epoch'>,
  { by, address }: Refused,
  { reason, field, rule }: MailRefusal,
): void {
  appendEvent(store, { ...event, type: 'mail-refused', data: { by, address, reason, field, rule } });
}

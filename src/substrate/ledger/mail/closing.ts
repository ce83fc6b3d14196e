import { refuse } from '../../../model/mail/refusal.ts';
import { appendEvent } from '../events.ts';
import type { Store } from '../store.ts';
import type { Lease } from '../../ports/ledger.ts';
import type { MailParty } from '../../ports/mailbox.ts';
import { failOpenTasks } from './effects.ts';

/** The newest of these decides. An engine that takes the run opens its mailbox, and so does a person who opens the run again. */
const DOORS = `SELECT type FROM event WHERE stream = ? AND (type IN ('mail-closed', 'lease-acquired')
  OR (type = 'operator-command' AND data ->> 'verb' IN ('retry', 'skip', 'override'))) ORDER BY seq DESC LIMIT 1`;

/** Within a write transaction. false: people sent something after `cursor` that the run has to read first, and nothing changes. */
export function closeMailbox(store: Store, { runId, epoch }: Lease, cursor: number): boolean {
  const unread = `SELECT 1 FROM event WHERE stream = ? AND seq > ? AND cause IS NULL
    AND (type = 'operator-command' OR (type = 'mail-sent' AND data ->> 'held' IS NULL)) LIMIT 1`;
  if (store.has(unread, runId, cursor)) return false;
  failOpenTasks(store, runId);
  if (!isClosed(store, runId)) appendEvent(store, { stream: runId, type: 'mail-closed', data: {}, epoch });
  return true;
}

/** Within the transaction that sends: what comes in after this moment would be read by no one. */
export function refuseClosed(store: Store, { by, runId }: MailParty): void {
  // A run does not end while a turn is live.
  if (by === 'turn' || !isClosed(store, runId)) return;
  refuse(
    'not_authorized',
    '',
    'comes after the end of the run was decided, so no agent reads it; `squad retry TASK` opens a run again that is over',
  );
}

function isClosed(store: Store, runId: string): boolean {
  return store.value<string>(DOORS, runId) === 'mail-closed';
}

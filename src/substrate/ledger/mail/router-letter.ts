import { MAIN, ROUTER } from '../../../model/mail/vocabulary.ts';
import type { Store } from '../store.ts';
import { requirePolicy } from './policy.ts';
import { post } from './post.ts';
import type { StoredMail } from './rows.ts';

interface Failure {
  /** One of the protocol's, or a text. */
  readonly reason: string;
  readonly target: string;
  readonly lastError: string;
  readonly retries: number;
}

/** Within a write transaction: tells MAIN that a message did not do what it was sent for. Never about a letter of its own. */
export function tellMain(store: Store, mail: StoredMail, { reason, target, lastError, retries }: Failure): void {
  if (mail.sender === ROUTER) return;
  post(store, {
    runId: mail.run_id,
    party: 'router',
    key: null,
    held: null,
    instance: 'router',
    from: ROUTER,
    to: [MAIN],
    type: 'fail',
    task_id: mail.task_id ?? undefined,
    corr: mail.id,
    ttl_ms: requirePolicy(store, mail.run_id).ttlMs,
    body_encoding: 'json',
    body: JSON.stringify({ reason, message_id: mail.id, target, last_error: lastError, retries, blocked_by: [] }),
    reviewDeadline: null,
  });
}

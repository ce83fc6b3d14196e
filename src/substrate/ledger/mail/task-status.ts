import type { MailAction } from '../../../model/mail/kind.ts';
import type { MailType } from '../../../model/mail/vocabulary.ts';
import type { MailTask } from '../../ports/mailbox.ts';

/**
 * What a message that names a task makes of it at once; undefined: nothing. `about`: the action of the ask that it replies to.
 * An answer to a review tells of a document, not of the end of a task; one to a verify may not be the last.
 */
export function statusAfter(
  type: MailType,
  action: MailAction | null,
  about: MailAction | null,
): MailTask['status'] | undefined {
  if (type === 'ask') return action === 'assign' ? 'open' : action === 'verify' ? 'verify_pending' : undefined;
  if (type !== 'done' && type !== 'fail') return undefined;
  if (about === 'review' || about === 'verify' || about === 'clarify') return undefined;
  return type === 'done' ? 'done' : 'failed';
}

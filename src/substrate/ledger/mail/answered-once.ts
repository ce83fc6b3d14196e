import type { CheckedDraft } from '../../../model/mail/check-draft.ts';
import { answersOnce } from '../../../model/mail/effects.ts';
import { refuse } from '../../../model/mail/refusal.ts';
import type { MailMember } from '../../../model/mail/route.ts';
import { ROUTER } from '../../../model/mail/vocabulary.ts';
import type { Store } from '../store.ts';
import { deliveriesOf, mailById, mailWhere, type StoredMail } from './rows.ts';

/**
 * Refuses a second answer to a question, because the one who asked continues with the first one. An answer that waits for the end of
 * its turn is one; one that is void is none.
 */
export function refuseAnswered(store: Store, { address, role }: MailMember, draft: CheckedDraft): void {
  const ask = draft.corr === undefined ? undefined : mailById(store, draft.corr);
  if (ask === undefined || !answersOnce(ask.action, draft)) return;
  const answer = effective(store, ask, [address, role]) ?? waiting(store, ask, address);
  if (answer === undefined) return;
  const rule = `is a question that ${answer.sender} has answered, with #${answer.seq}; to add something, use \`send\``;
  refuse('invalid_format', 'corr', rule);
}

/** The answer of this member, or of another one of its role. What the router says in its place is none. */
function effective(store: Store, ask: StoredMail, names: readonly string[]): StoredMail | undefined {
  const [own] = deliveriesOf(store, ask.seq).filter(({ recipient }) => names.includes(recipient));
  const answer = own?.answer === null || own === undefined ? undefined : mailById(store, own.answer);
  return answer === undefined || answer.sender === ROUTER || answer.type === 'report' ? undefined : answer;
}

function waiting(store: Store, ask: StoredMail, address: string): StoredMail | undefined {
  const held = `corr = ? AND sender = ? AND EXISTS (
    SELECT 1 FROM mail_delivery WHERE mail_seq = mail.seq AND held = 1 AND state <> 'void')`;
  return mailWhere(store, held, ask.id, address).find((mail) => answersOnce(ask.action, mail));
}

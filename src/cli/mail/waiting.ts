import { owesAnswer } from '../../model/mail/effects.ts';
import type { MailMessage } from '../../model/mail/envelope.ts';
import { memberAt } from '../../model/mail/policy.ts';
import type { Delivery, MailParty } from '../../substrate/ports/mailbox.ts';
import { styleFor } from '../render/style.ts';
import type { OpenedMail } from './open-mail.ts';

/** The mark of a message that waits for a person. */
export const WAIT_MARK = '! ';
const BELL = '\u0007';

/** Messages that a person has to answer, oldest first. Empty for an agent, because the engine wakes it. */
export function waitingFor(
  { mail, run, policy }: Pick<OpenedMail, 'mail' | 'run' | 'policy'>,
  party: MailParty,
): Delivery[] {
  if (memberAt(policy, party.address)?.agent !== null) return [];
  return mail
    .status(run.id)
    .unanswered.filter(({ recipient, message }) => recipient === party.address && owesAnswer(message));
}

/** Whether it asks this person for an answer. */
export function asksPerson({ policy }: Pick<OpenedMail, 'policy'>, party: MailParty, message: MailMessage): boolean {
  return message.to.includes(party.address) && memberAt(policy, party.address)?.agent === null && owesAnswer(message);
}

/** Its line with the mark, in a terminal in bold. */
export function markedLine(line: string): string {
  return styleFor(process.stdout)('bold', `${WAIT_MARK}${line}`);
}

/** Rings where a person can hear it. */
export function ring(): void {
  if (process.stdout.isTTY) process.stdout.write(BELL);
}

import type { MailReason } from './vocabulary.ts';

/** What is wrong with a message, for whoever sent it (the protocol's NACK) and for the record. */
export interface MailRefusal {
  readonly reason: MailReason;
  /** Path of the field: `to`, `body.reviewers`, `body.issues[1].severity`; empty where it is the message as a whole. */
  readonly field: string;
  /** The rule that it breaks, as a sentence. Never repeats what the message says. */
  readonly rule: string;
}

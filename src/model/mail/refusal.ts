import type { MailReason } from './vocabulary.ts';

/** What is wrong with a message, for whoever sent it (the protocol's NACK) and for the record. */
export interface MailRefusal {
  readonly reason: MailReason;
  /** Path of the field: `to`, `body.reviewers`, `body.issues[1].severity`; empty where it is the message as a whole. */
  readonly field: string;
  /** The rule that it breaks, as a sentence about the field. Never repeats what the message says. */
  readonly rule: string;
}

/** What a check makes of a part of a message. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: MailRefusal };

export function refused(reason: MailReason, field: string, rule: string): { ok: false; refusal: MailRefusal } {
  return { ok: false, refusal: { reason, field, rule } };
}

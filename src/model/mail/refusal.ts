import type { MailReason } from './vocabulary.ts';

/** Why a message is refused, for its sender (the protocol's NACK) and for the record. */
export interface MailRefusal {
  readonly reason: MailReason;
  /** Path of the field: `to`, `body.reviewers`, `body.issues[1].severity`; empty: the message as a whole. */
  readonly field: string;
  /** With the field before it, a sentence: what it must be, or what to send instead. Never repeats the message. */
  readonly rule: string;
}

export interface Refused {
  readonly ok: false;
  readonly refusal: MailRefusal;
}

/** The result of a check of a part of a message. */
export type Checked<T> = { readonly ok: true; readonly value: T } | Refused;

export function refused(reason: MailReason, field: string, rule: string): Refused {
  return { ok: false, refusal: { reason, field, rule } };
}

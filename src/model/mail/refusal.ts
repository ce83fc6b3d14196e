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

/** The result of a check of a message, or of a part of it. */
export type Checked<T> = { readonly ok: true; readonly value: T } | Refused;

/** Thrown by the checks of a message, for `catchRefusal`. */
class MailRefused extends Error {
  readonly refusal: MailRefusal;

  constructor(refusal: MailRefusal) {
    super(`${refusal.reason}: ${refusal.field} ${refusal.rule}`);
    this.refusal = refusal;
  }
}

/** Ends a check, up to the next `catchRefusal`. */
export function refuse(reason: MailReason, field: string, rule: string): never {
  throw new MailRefused({ reason, field, rule });
}

/** The result of a check whose parts may refuse. */
export function catchRefusal<T>(check: () => T): Checked<T> {
  try {
    return { ok: true, value: check() };
  } catch (error) {
    if (error instanceof MailRefused) return { ok: false, refusal: error.refusal };
    throw error;
  }
}

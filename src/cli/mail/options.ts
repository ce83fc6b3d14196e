import type { Locale } from '../../model/locale.ts';
import type { Moment } from '../../text/duration.ts';

export const WAITS = ['delivered', 'accepted', 'done'] as const;
export type WaitFor = (typeof WAITS)[number];

/** Which mailbox, and how it is shown. */
export interface MailOptions {
  readonly run?: string;
  readonly locale?: Locale;
  readonly json?: boolean;
}

/** Who speaks or reads, unless a token says it. */
export interface PartyOptions extends MailOptions {
  readonly as?: string;
}

/** Flags of every command that sends; those of its fields have the names of `SendFlag.key`. */
export interface SendOptions extends PartyOptions {
  readonly to?: readonly string[];
  readonly task?: string;
  readonly owner?: string;
  readonly corr?: string;
  /** ms */
  readonly ttl?: number;
  readonly key?: string;
  readonly body?: string;
  readonly bodyFile?: string;
  readonly bodyEncoding?: 'json' | 'base64';
  readonly wait?: WaitFor;
  /** ms */
  readonly timeout?: number;
  readonly deadline?: Moment;
  readonly reviewDeadline?: Moment;
  readonly action?: string;
  readonly [flag: string]: unknown;
}

export interface InboxOptions extends PartyOptions {
  /** Only look. */
  readonly peek?: boolean;
  /** Read an agent's mail in its place. */
  readonly take?: boolean;
  readonly limit?: number;
  /** Flags of the protocol that squad does not have. */
  readonly autoInput?: boolean;
  readonly autoReply?: boolean;
  readonly promptPath?: string;
}

export interface TraceOptions extends MailOptions {
  readonly task?: string;
  readonly corr?: string;
  readonly after?: number;
  readonly export?: string;
}

import type { Moment } from './moment.ts';

export const LOCALES = ['en', 'zh'] as const;
export type Locale = (typeof LOCALES)[number];

export const WAITS = ['delivered', 'accepted', 'done'] as const;
export type WaitFor = (typeof WAITS)[number];

/** Which mailbox, and how it is shown. */
export interface MailOptions {
  readonly run?: string;
  readonly locale?: Locale;
  readonly json?: boolean;
}

/** Who speaks or reads, where no token says so. */
export interface PartyOptions extends MailOptions {
  readonly as?: string;
}

/** Of every verb that sends. What a verb has no use for is not among its flags. */
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
  readonly wait?: WaitFor;
  /** ms */
  readonly timeout?: number;
  readonly deadline?: Moment;
  readonly reviewDeadline?: Moment;
  /** Of an assignment: its task type. */
  readonly action?: string;
  readonly file?: string;
  readonly files?: readonly string[];
  readonly focus?: readonly string[];
  readonly successCriteria?: readonly string[];
  readonly dependencies?: readonly string[];
  readonly codePath?: string;
  readonly docPath?: string;
  readonly question?: string;
  readonly questions?: readonly string[];
  readonly context?: string;
  readonly expected?: string;
  readonly changesSummary?: string;
  readonly issues?: string;
  readonly newIssues?: number;
  readonly summary?: string;
  readonly docUpdated?: boolean;
  readonly reason?: string;
  readonly blockedBy?: readonly string[];
}

export interface InboxOptions extends PartyOptions {
  /** Only look. */
  readonly peek?: boolean;
  /** Read what is an agent's in its place. */
  readonly take?: boolean;
  readonly limit?: number;
}

export interface TraceOptions extends MailOptions {
  readonly task?: string;
  readonly corr?: string;
  readonly after?: number;
  readonly follow?: boolean;
  readonly export?: string;
}

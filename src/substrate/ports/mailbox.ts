import type { Json } from '../../text/json.ts';
import type { MailMessage } from '../../model/mail/envelope.ts';
import type { MailPolicy } from '../../model/mail/policy.ts';
import type { MailRefusal } from '../../model/mail/refusal.ts';
import type { MailAction } from '../../model/mail/kind.ts';
import type { MailTaskStatus, MailType } from '../../model/mail/vocabulary.ts';
import type { Lease } from './lease.ts';

/** Who sends or reads. The store knows it from a token or from the process that calls, never from a field of a message. */
export type MailParty =
  /** A turn, until it is settled. */
  | { readonly by: 'turn'; readonly runId: string; readonly address: string; readonly attemptId: string }
  /** A window that a person has opened for an agent. */
  | { readonly by: 'pane'; readonly runId: string; readonly address: string; readonly instance: string }
  /** A person at this machine, who may speak as any member of the run. `name`: the person's own name, for people. */
  | { readonly by: 'person'; readonly runId: string; readonly address: string; readonly name: string };

export interface MailSession {
  /** UUID; never changes in a workspace. */
  readonly id: string;
  readonly createdAt: number;
  /** Counts the cold starts of the workspace's mail: each engine that takes a run is one. */
  readonly epoch: number;
  readonly lastSeq: number;
}

export type SendAnswer =
  /** On disk and in every recipient's inbox. `repeated`: it was sent before under this key, and is not sent again. */
  | { readonly sent: true; readonly message: MailMessage; readonly repeated: boolean }
  /** The refusal is on record; nothing was sent. */
  | { readonly sent: false; readonly refusal: MailRefusal };

/**
 * `waiting`: in the inbox. `leased`: with a reader that has not accepted it yet. `accepted`: read. `dead`: given up; it can still
 * be read, late. `void`: it never took effect, because the turn that sent it did not complete, or
 * because squad answers in its place.
 */
export type DeliveryState = 'waiting' | 'leased' | 'accepted' | 'dead' | 'void';

/** One recipient's copy of a message. */
export interface Delivery {
  readonly message: MailMessage;
  readonly recipient: string;
  readonly state: DeliveryState;
  readonly retries: number;
  /** Epoch ms; null: not accepted yet. */
  readonly acceptedAt: number | null;
  /** When an ask must be answered (epoch ms); null: its clock starts when it is accepted, or it is no ask. */
  readonly answerDue: number | null;
  /** The id of the reply to an ask, or `overdue` once its time is over; null: open, or no ask. */
  readonly answer: string | null;
  readonly lastError: string | null;
}

export interface MailTask {
  readonly runId: string;
  readonly id: string;
  readonly status: MailTaskStatus;
  readonly owner: string | null;
  /** Epoch ms. */
  readonly deadline: number | null;
  readonly retries: number;
  /** `seq` of the message that changed it last. */
  readonly lastUpdateSeq: number;
}

/**
 * One line of a trace, made from one event of the ledger. `held`: the turn at whose end the message takes effect, if this turn has
 * not ended yet.
 */
export type MailTrace =
  | { readonly event: 'message'; readonly message: MailMessage; readonly held: string | null }
  | {
      readonly event: 'ack';
      readonly id: string;
      readonly ack: 'delivered' | 'accepted';
      readonly agent: string;
      readonly ts: number;
    }
  | {
      readonly event: 'retry' | 'dead' | 'overdue' | 'void';
      readonly id: string;
      readonly agent: string;
      readonly ts: number;
      readonly note: string;
    }
  /** The protocol's `presence.register` of one reader; `agent`: its `agent_instance`. */
  | { readonly event: 'presence'; readonly agent: string; readonly meta: PresenceMeta };

export interface PresenceMeta {
  /** Its address. */
  readonly role: string;
  readonly session: string;
  readonly epoch: number;
  readonly window_name: string | null;
  readonly ts: number;
}

export interface MailStatus {
  readonly session: MailSession;
  readonly members: readonly {
    readonly address: string;
    readonly role: string;
    readonly agent: string | null;
    readonly online: boolean;
    readonly unread: number;
    /** `ts` of the oldest unread message. */
    readonly oldestUnread: number | null;
  }[];
  readonly tasks: readonly MailTask[];
  /** Open asks, oldest first, at most 200. */
  readonly unanswered: readonly Delivery[];
  /** Given up and still unread, oldest first, at most 200. */
  readonly dead: readonly Delivery[];
  readonly counts: {
    readonly messages: number;
    readonly unread: number;
    readonly dead: number;
    readonly refused: number;
  };
}

/**
 * The router over the ledger. Each method is one transaction. Time comes from the ledger's clock. It needs no running engine:
 * the engine and every listener call `tick`.
 */
export interface Mailbox {
  /** Freezes who may write to whom. Opening it again with the same policy changes nothing. */
  open(lease: Lease, policy: MailPolicy): void;
  /** undefined: the run has no mailbox yet. */
  policy(runId: string): MailPolicy | undefined;
  session(runId: string): MailSession;

  /** A new 256-bit secret (hex) for a turn, until the attempt is settled or gets another one. Only its hash is kept. */
  issueTurnToken(lease: Lease, attemptId: string): string;
  /** A secret for a pane, until `closePane` or the run's next pane of that address. */
  issuePaneToken(runId: string, address: string, instance: string): string;
  closePane(token: string): void;
  /** undefined: the token is unknown or expired; the attempt to use it is recorded. */
  bearer(token: string): MailParty | undefined;

  /**
   * Checks a message by the rules of the protocol and puts it into every recipient's inbox. `draft` is unchecked input. `key`: the
   * sender's own name for the message; the same key again sends nothing. A message that changes the plan (assign, done, fail,
   * answer) and comes from a turn is deferred: it takes effect when that turn completes, and is void otherwise.
   */
  send(party: MailParty, draft: unknown, key?: string): SendAnswer;
  /** Records a refusal by a client, which refused its user's input before it was a message. */
  refuse(party: MailParty, refusal: MailRefusal): void;

  /** Leases the oldest free messages to this reader for `leaseMs`, in the order of each sender. */
  claim(party: MailParty, options: { limit: number; leaseMs: number }): readonly Delivery[];
  /** Messages that are not accepted, oldest first. Changes nothing. */
  inbox(party: MailParty, limit?: number): readonly Delivery[];
  /**
   * Accepts these messages as read; an answer accepts the ask that it answers. Returns the ids that were not accepted before.
   * Throws `usage` for the id of another reader's message or of none.
   */
  accept(party: MailParty, ids: readonly string[]): readonly string[];
  /** The protocol's `presence.register`: this reader has started. It is also the first beat. */
  register(party: MailParty, meta?: { readonly windowName?: string }): void;
  /** This reader is online for a minute, and, unless it is a turn, able to read its mail. */
  beat(party: MailParty): void;

  /** One message to or from this party that it may see now, read or not; undefined: none of its messages has this id. */
  messageFor(party: MailParty, id: string): Pick<Delivery, 'message' | 'answerDue'> | undefined;
  message(id: string): MailMessage | undefined;
  /** The body, read back from its file if it is in one. */
  bodyOf(message: MailMessage): string;
  deliveries(id: string): readonly Delivery[];
  /** The newest ask about that task that this party still owes an answer to; a text says why there is not exactly one. */
  openAsk(party: MailParty, taskId?: string): Delivery | string;
  replies(corr: string): readonly MailMessage[];

  /** The messages that a turn sent, in order. */
  sentBy(attemptId: string): readonly MailMessage[];
  /** The part of it that is deferred until the turn completes, also after that. */
  deferredBy(attemptId: string): readonly MailMessage[];
  /** The attempt of the turn that sent it, or the key under which the engine sent it. */
  originOf(id: string): { readonly attemptId: string | null; readonly key: string | null } | undefined;
  /** Messages that these recipients have not read and no reader has leased, oldest first, at most `limit`. */
  unreadOf(runId: string, recipients: readonly string[], limit: number): readonly Delivery[];
  /** Whom the engine could give a turn now, for people: these addresses are online. The clocks of acks run for readers alone. */
  receivers(lease: Lease, able: readonly string[]): void;
  /**
   * Acts on every clock that is due: retries, expired and dead messages with their report to MAIN, overdue asks and tasks. Cheap
   * when nothing is due. Returns the number of changes.
   */
  tick(runId: string): number;
  /**
   * The run ends: what was assigned or is to be verified, and has no end yet, has failed, and people and panes can send nothing more
   * until an engine takes the run, or a person opens it again. false: a message or a command came in after `cursor`, and nothing has
   * changed.
   */
  finish(lease: Lease, cursor: number): boolean;
  /** Epoch ms of the next moment at which a clock is due; null: none is. */
  nextDue(runId: string): number | null;

  /** Oldest first, read page by page. */
  trace(where: { runId?: string; task?: string; afterSeq?: number }): Iterable<MailTrace>;
  status(runId: string): MailStatus;
}

/** A message that a decision sends in the name of a member, within its own transaction. */
export interface EngineMail {
  /** An address; `ROUTER`: the engine's own report about a message, which no rule checks. */
  readonly from: string;
  readonly to: readonly string[];
  readonly type: MailType;
  readonly action?: MailAction | undefined;
  readonly task?: string | undefined;
  readonly owner?: string | undefined;
  readonly corr?: string | undefined;
  /** Instead of `corr`: the key of an earlier message of the engine. An unknown key is refused like an unknown `corr`. */
  readonly corrKey?: string | undefined;
  readonly deadline?: number | undefined;
  readonly body: Readonly<Record<string, Json>>;
}

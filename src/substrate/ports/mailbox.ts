import type { Json } from '../../text/json.ts';
import type { MailMessage } from '../../model/mail/envelope.ts';
import type { MailPolicy } from '../../model/mail/policy.ts';
import type { MailRefusal } from '../../model/mail/refusal.ts';
import type { MailAction } from '../../model/mail/kind.ts';
import type { MailType } from '../../model/mail/vocabulary.ts';
import type { Lease } from './lease.ts';

/**
 * Who speaks or reads, as the store knows it: by a token, or because it is the engine or a person at this machine. Never from
 * a field of a message.
 */
export type MailParty =
  /** Of a turn, until that is settled. */
  | { readonly by: 'turn'; readonly runId: string; readonly address: string; readonly attemptId: string }
  /** Of a window that a person has opened for an agent. */
  | { readonly by: 'pane'; readonly runId: string; readonly address: string; readonly instance: string }
  /** Somebody at this machine, who may speak as anybody of the run. `name`: who it was, for people. */
  | { readonly by: 'person'; readonly runId: string; readonly address: string; readonly name: string };

export interface MailSession {
  /** UUID; the same for ever in a workspace. */
  readonly id: string;
  readonly createdAt: number;
  /** Of the run's lease: of the engine that drives it, or of the last one. */
  readonly epoch: number;
  readonly lastSeq: number;
}

export type SendAnswer =
  /** On disk, and in every recipient's inbox. `repeated`: it was sent before under this key; nothing new was made. */
  | { readonly sent: true; readonly message: MailMessage; readonly repeated: boolean }
  /** On record as refused; nothing was sent. */
  | { readonly sent: false; readonly refusal: MailRefusal };

/**
 * `waiting`: in the inbox. `leased`: with a reader who has not yet said that it read it. `accepted`: read. `dead`: given up;
 * it can still be read, late. `void`: the turn that sent it was lost before it took effect.
 */
export const DELIVERY_STATES = ['waiting', 'leased', 'accepted', 'dead', 'void'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One message on its way to one recipient. */
export interface Delivery {
  readonly message: MailMessage;
  readonly recipient: string;
  readonly state: DeliveryState;
  readonly retries: number;
  /** Epoch ms; null: not yet. */
  readonly acceptedAt: number | null;
  /** Of an ask: until when it has to be answered (epoch ms); null: not known before it is accepted, or no ask. */
  readonly answerDue: number | null;
  /** Of an ask: the reply's id, or `overdue` once its time was over; null: open, or no ask. */
  readonly answer: string | null;
  readonly lastError: string | null;
}

export interface MailTask {
  readonly runId: string;
  readonly id: string;
  readonly status: 'open' | 'verify_pending' | 'verified' | 'done' | 'failed';
  readonly owner: string | null;
  /** Epoch ms. */
  readonly deadline: number | null;
  readonly retries: number;
  /** Of the message that changed it last. */
  readonly lastUpdateSeq: number;
}

/** One line of a trace. */
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
    };

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
  /** Asks without an answer, oldest first, at most 200. */
  readonly unanswered: readonly Delivery[];
  /** Given up and not read since, oldest first, at most 200. */
  readonly dead: readonly Delivery[];
  readonly counts: {
    readonly messages: number;
    readonly unread: number;
    readonly dead: number;
    readonly refused: number;
  };
}

/**
 * The router over the ledger. Each method is one transaction. Time comes from the ledger's clock. Everything here works
 * while no engine lives, except `tick`, which the engine (and whoever listens) calls.
 */
export interface Mailbox {
  /** Freezes who may write to whom; the same again changes nothing. */
  open(lease: Lease, policy: MailPolicy): void;
  /** undefined: the run has no mailbox (yet). */
  policy(runId: string): MailPolicy | undefined;
  session(runId: string): MailSession;

  /** A new 256-bit secret (hex) for a turn, dead once the attempt is settled; only its hash is kept. An earlier one of the attempt dies. */
  issueTurnToken(lease: Lease, attemptId: string): string;
  /** The same for a pane, until `closePane` or the run's next pane of that address. */
  issuePaneToken(runId: string, address: string, instance: string): string;
  closePane(token: string): void;
  /** undefined: nobody's (any more). Such a try is on record. */
  bearer(token: string): MailParty | undefined;

  /**
   * Checks a message as the protocol says, and puts it into every recipient's inbox. `draft` is whatever came in. `key`: the
   * sender's own name for it, so that a repeat is not a second message. What changes the plan (assign, done, fail, answer),
   * sent from a turn, is held: it takes effect when that turn completes, and is void if it does not.
   */
  send(party: MailParty, draft: unknown, key?: string): SendAnswer;
  /** On record, as with a refused `send`: what the client of this party refused before it was a message. */
  refuse(party: MailParty, refusal: MailRefusal): void;

  /** The oldest that nobody has leased, in order of each sender; leased until `leaseMs` from now. */
  claim(party: MailParty, options: { limit: number; leaseMs: number }): readonly Delivery[];
  /** Looks, and changes nothing: what is not accepted, oldest first. */
  inbox(party: MailParty, limit?: number): readonly Delivery[];
  /**
   * Says that these were read; whoever answers an ask has said so with it. Returns those for which it is news. Unknown or
   * foreign ids are refused with `usage`.
   */
  accept(party: MailParty, ids: readonly string[]): readonly string[];
  /** This reader is there: it counts as online for a minute, and, unless it is a turn, as one who could read its mail. */
  beat(party: MailParty): void;

  /** One message to or from this party that it may see now, read or not; undefined: another's, or none. */
  letter(party: MailParty, id: string): Pick<Delivery, 'message' | 'answerDue'> | undefined;
  message(id: string): MailMessage | undefined;
  /** With the body read back from its file where it is in one. */
  bodyOf(message: MailMessage): string;
  deliveries(id: string): readonly Delivery[];
  /** The newest ask of that task that this party still owes an answer to; a text says why there is not exactly one. */
  openAsk(party: MailParty, taskId?: string): Delivery | string;
  replies(corr: string): readonly MailMessage[];

  /** What a turn sent, in order; only what takes effect with its end, where `held` is said (also after that). */
  sentBy(attemptId: string, held?: boolean): readonly MailMessage[];
  /** Where it came from: the turn's attempt, or the key that the engine sent it under. */
  originOf(id: string): { readonly attemptId: string | null; readonly key: string | null } | undefined;
  /** In a prompt, before the turn is claimed: unread by this recipient, in order, at most `limit`. */
  lettersFor(runId: string, recipients: readonly string[], limit: number): readonly Delivery[];
  /** From now on these can take mail, and the others of the run cannot: clocks of acks run for the former only. */
  receivers(lease: Lease, able: readonly string[]): void;
  /**
   * What time has brought: retries, expired messages, dead letters with their escalation, overdue asks and tasks. Cheap when
   * nothing is due. Returns the number of changes.
   */
  tick(runId: string): number;
  /** Epoch ms of the next moment at which `tick` may find something; null: none is known. */
  nextDue(runId: string): number | null;

  /** Oldest first; lazily read, in pages. */
  trace(where: { runId?: string; task?: string; afterSeq?: number }): Iterable<MailTrace>;
  status(runId: string): MailStatus;
  /** Messages to agents of this run that have been neither read nor given up; asks without an answer among them. */
  pending(runId: string): { readonly unread: number; readonly unanswered: number };
}

/** What a decision sends in the name of a member, within its own transaction. Its body was made by the engine itself. */
export interface EngineMail {
  /** An address; `ROUTER`: what the engine itself says of a message, which no rule is asked about. */
  readonly from: string;
  readonly to: readonly string[];
  readonly type: MailType;
  readonly action?: MailAction | undefined;
  readonly task?: string | undefined;
  readonly owner?: string | undefined;
  readonly corr?: string | undefined;
  /** In place of `corr`: the key of what the engine sent before, in this very transaction too. Unknown: refused like an unknown `corr`. */
  readonly corrKey?: string | undefined;
  readonly deadline?: number | undefined;
  readonly body: Readonly<Record<string, Json>>;
}

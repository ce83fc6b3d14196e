import type { z } from 'zod';
import type { BodyContext, BodyFields } from './body-rules.ts';
import type { MailTaskStatus, MailType } from './vocabulary.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How long an ask waits for its answer, and what silence means after that. */
export interface AnswerTime {
  /** When the time starts: when the ask is sent, or when its recipient has read it. */
  readonly from: 'sent' | 'read';
  readonly ms: number;
  /** The field with another moment (epoch ms): of the message, where it is required, or of the body. */
  readonly field?: 'deadline' | 'body.review_deadline';
  /** `done`: a silent recipient counts as done. `failed`: the task fails. `open`: the ask stays open, with an alert each time. */
  readonly silence: 'done' | 'failed' | 'open';
}

/** The composer's facts about the answered ask and about the sender. */
export interface ComposeFacts {
  /** Epoch ms. */
  readonly now: number;
  /** The sender's address. */
  readonly from: string;
  /** The ask that it answers. `from` is absent if the sender cannot see such a message. */
  readonly asked?: AskedMessage;
  /** A person wrote it in words, and not a model. */
  readonly person?: boolean;
}

export interface AskedMessage {
  readonly id: string;
  readonly from?: string;
  readonly action?: string | undefined;
  readonly task_id?: string | undefined;
  /** Empty if the body has no fields. */
  readonly body: Fields;
}

/** A command of `squad mail` or a tool of the mail server that makes messages of a kind. */
export interface Maker {
  readonly name: string;
  /** The value of `action` that selects this kind, if several kinds share the command or tool. */
  readonly action?: string;
  /** Selected if the sender gives no `action`. */
  readonly preset?: true;
  /** Description of the command or tool. One of the kinds that share it has one. */
  readonly does?: string;
  /** Example lines of a command. */
  readonly example?: readonly string[];
  /** Values for fields that the sender leaves out. */
  readonly defaults?: Fields;
}

export interface MailKindEntry {
  readonly name: string;
  /** The name for people, where it differs. */
  readonly title?: string;
  readonly type: MailType;
  /** null: it has none. */
  readonly action: string | null;
  /** The permission that its sender needs. */
  readonly verb: string;
  readonly body: z.ZodObject<z.core.$ZodShape, z.core.$loose>;
  /** The `task_type` that tells it from another kind with the same type and action. */
  readonly taskType?: string;
  /** Asks that it can answer: it names one of them in `corr`. null: it may begin a thread. */
  readonly answers: readonly string[] | null;
  readonly task: 'required' | 'optional';
  /** The state of its task after it. A reply sets the state of a task only if it answers the ask that opened the task. */
  readonly taskState?: MailTaskStatus;
  /** Sent from a turn, it takes effect when the turn completes. */
  readonly changesPlan?: true;
  /** Only asks have one. */
  readonly answerTime?: AnswerTime;
  /** The field of a reply that says whether its sender found issues. */
  readonly findings?: 'has_issues' | 'has_new_issues';
  /** It may go to a role that no agent has yet. */
  readonly toRole?: true;
  /** Its body may be base64 instead of an object. */
  readonly base64?: true;

  /** Checks what the schema of the body cannot, and fills in what its sender left out. */
  readonly rule?: (body: BodyFields, context: BodyContext) => BodyFields;

  /** Fields of the body that no sender types: the composer or the router fills them in. */
  readonly filled?: readonly string[];
  /** Fields that senders type besides those of the body's schema. */
  readonly also?: Readonly<Record<string, z.ZodType>>;
  /** Fields that are as in the ask that it answers, unless the sender types others. */
  readonly fromAsk?: readonly string[];
  readonly complete?: (fields: Fields, facts: ComposeFacts) => Fields;
  /** The fields that the one-line text shows first. */
  readonly line?: readonly string[];
  readonly command?: Maker & {
    /** Flags that are not called like their field; null: no flag. */
    readonly flags?: Readonly<Record<string, string | null>>;
  };
  /** A tool makes one kind of message. */
  readonly tool?: Maker;
  /** A command and a tool that take plain words for one field, and work out the rest. */
  readonly words?: {
    readonly field: string;
    readonly command?: Maker;
    readonly tool?: Maker;
  };
}

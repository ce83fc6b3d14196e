import type { MailMessage } from '../../model/mail/envelope.ts';

export type Body = Readonly<Record<string, unknown>>;

/** The verbs of the command line that send something. */
export const SENDING = ['review', 'report', 'assign', 'ask', 'send', 'done', 'fail', 'say', 'reply'] as const;
export type Sending = (typeof SENDING)[number];

const ANSWERS: readonly Sending[] = ['report', 'send', 'done', 'fail', 'reply'];

/** Whether it answers an ask, which it has to name; a note answers nothing. */
export function isAnswer(verb: Sending, action: string | undefined): boolean {
  return ANSWERS.includes(verb) && !(verb === 'send' && action === 'note');
}

export interface DraftFacts {
  readonly now: number;
  /** The sender's address. */
  readonly from: string;
  /** The ask that is answered, and its body. */
  readonly asked?: MailMessage;
  readonly askedBody?: Body;
  /** The words of `say` and `reply`. */
  readonly text?: string;
  /** What the sender is at work on, for `say`. */
  readonly work?: Work;
  /** A person or somebody in a pane says it, and not a model. */
  readonly byHand?: boolean;
}

/** What somebody is at work on, as far as mail knows. */
export interface Work {
  readonly task?: string;
  readonly owner?: string;
  readonly codePath?: string;
  readonly docPath?: string;
  readonly context?: string;
}

import type { Board } from '../model/plan/board.ts';
import type { Delivery, Mailbox } from '../substrate/ports/mailbox.ts';
import { lettersOf, orderedBy, recipientsOf, type TurnStart } from './decisions/letters.ts';
import { fittingLetters, type Letter } from './prompts/mail-block.ts';
import { letterOf } from './read-mail.ts';

/** Unread messages that are looked at for one turn. */
const MOST_LETTERS = 100;

interface TurnOf {
  readonly runId: string;
  readonly board: Board;
  readonly start: TurnStart;
  /** It goes on in a session that knows what its task is there for. */
  readonly knows: boolean;
  /** What goes with turns that begin at the same time; what goes with this one is added. */
  readonly taken: Set<string>;
}

/** The mail of one turn. What its prompt has no room for stays unread. */
export interface PromptMail {
  readonly letters: readonly Letter[];
  /** With this turn from its claim on: read, once it completes. */
  readonly handed: readonly { readonly id: string; readonly recipient: string }[];
}

export function promptMail(mail: Mailbox, { runId, board, start, knows, taken }: TurnOf): PromptMail {
  const unread = mail.unreadOf(runId, recipientsOf(start, board), MOST_LETTERS);
  // Two turns of one agent may begin at once; each message to it goes with one of them.
  const free = lettersOf(start, board, unread).filter((delivery) => !taken.has(copyOf(delivery)));
  const ordered = orderedBy(start, board);
  const own = recipientsOf(start, board);
  // Reviewers of work that a message added have to know the message, but it asks nothing of them.
  const about = start.review === null ? ordered : (board.tasks.get(start.task)?.task.brief.mail ?? []);
  const again = knows ? [] : readBefore(mail, about, free);
  // A message to the agent and to its role is one message; this turn delivers both copies.
  const once = new Map([...again, ...free].toReversed().map((delivery) => [delivery.message.id, delivery]));
  const letters = [...once.values()].toReversed().map((delivery) => {
    const letter = letterOf(delivery, mail);
    return start.review === null && own.includes(delivery.recipient) ? letter : { ...letter, asks: null };
  });
  const shown = new Set(fittingLetters(letters, ordered).map(({ id }) => id));
  const handed = free.filter(({ message }) => shown.has(message.id));
  for (const delivery of handed) taken.add(copyOf(delivery));
  return { letters, handed: handed.map(({ message, recipient }) => ({ id: message.id, recipient })) };
}

/** What one recipient has of a message. */
function copyOf({ message, recipient }: Delivery): string {
  return `${message.id} ${recipient}`;
}

/** What the task is there for, and is not to be had any more: another turn has read it, or has it, or it is dead. */
function readBefore(mail: Mailbox, ordered: readonly string[], free: readonly Delivery[]): Delivery[] {
  const missing = ordered.filter((id) => !free.some(({ message }) => message.id === id));
  return missing.flatMap((id) => mail.deliveries(id).slice(0, 1));
}

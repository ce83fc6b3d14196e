import type { MailAction, MailType } from './vocabulary.ts';

const CLOSING: Readonly<Record<MailAction, readonly MailType[]>> = {
  review: ['report', 'done', 'fail'],
  verify: ['report', 'done', 'fail'],
  assign: ['done', 'fail'],
  clarify: ['send', 'fail'],
  // No ask has these.
  review_feedback: [],
  answer: [],
  verified: [],
};

/** Whether a reply of this type is the answer that the ask waits for, and not a word in between. */
export function closes(ask: MailAction | null | undefined, reply: MailType): boolean {
  return reply !== 'ask' && (ask === null || ask === undefined || CLOSING[ask].includes(reply));
}

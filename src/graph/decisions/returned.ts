import type { Prompt, Work } from '../../model/plan/work.ts';

type Feedback = Extract<Prompt, { why: 'feedback' }>['from'];

/** Feedback on work. `end`: it ended the work instead of sending it back to its author. */
export interface ReturnedWork {
  readonly from: Feedback | 'end';
  readonly text: string;
}

/** The feedback that the work got between two of its states, oldest first. */
export function returnedBetween(before: Work, { author, feedback, phase }: Work): ReturnedWork[] {
  const { prompt } = author;
  const from = prompt.why === 'feedback' && phase.at === 'working' ? prompt.from : 'end';
  return feedback.slice(before.feedback.length).map((text) => ({ from, text }));
}

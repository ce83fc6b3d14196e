import { z } from 'zod';
import type { AskedQuestion } from '../model/plan/asked-question.ts';
import { plainLine } from '../text/plain-text.ts';

/** Each question's id with its answer. */
export type Answers = readonly (readonly [string, string])[];

/** Resumes an interrupt: the answer to the only question, or `{question: answer}`. */
const givenSchema = z.union([z.string(), z.record(z.string(), z.string())]);

/** The answers in what a graph was resumed with, or what is wrong with it. Whether one fits its question, the run says. */
export function readAnswers(
  given: unknown,
  open: readonly Pick<AskedQuestion, 'id'>[],
):
  | { readonly answers: Answers; readonly problem?: undefined }
  | { readonly problem: string; readonly answers?: undefined } {
  const ids = open.map(({ id }) => plainLine(id, 80)).join(', ');
  const parsed = givenSchema.safeParse(given);
  if (!parsed.success) return { problem: `An answer is a text, or an object with a text for each question: ${ids}.` };
  if (typeof parsed.data !== 'string') {
    const answers = Object.entries(parsed.data);
    const unknown = answers.find(([id]) => !open.some((question) => question.id === id));
    if (unknown !== undefined) return { problem: `${plainLine(unknown[0], 80)} is no open question. Open: ${ids}.` };
    return answers.length === 0 ? { problem: `No question was answered. Open: ${ids}.` } : { answers };
  }
  const [only, ...more] = open;
  if (only === undefined || more.length > 0)
    return { problem: `There are ${open.length} questions: answer with an object. Open: ${ids}.` };
  return { answers: [[only.id, parsed.data]] };
}

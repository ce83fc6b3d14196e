import { z } from 'zod';

/** No field is optional, because strict structured output requires all. */
const findingSchema = z.object({
  text: z
    .string()
    .describe('file and line, what is wrong, what would be right, and the input or command that proves it'),
  /** The criterion that it violates, from 0; null: none. */
  criterion: z.number().int().nullable().describe('the number of the criterion that it violates, or null'),
  /** An earlier round found it and it is not fixed. */
  repeated: z.boolean().describe('an earlier round found it and it is still not fixed'),
  /** The change since the last review broke it. */
  regression: z.boolean().default(false).describe('the change since the last review broke, lost or opened it'),
});
export type Finding = z.infer<typeof findingSchema>;

/** A reviewer's word on a change of what checks the work. */
const wordSchema = z.object({
  path: z.string(),
  accepted: z.boolean(),
  why: z.string().describe('one sentence'),
});

const verdictFields = {
  approved: z.boolean(),
  summary: z.string(),
  findings: z
    .array(findingSchema)
    .describe('of a rejection, what has to change, at least one; of an approval, remarks for later'),
  checks: z
    .array(wordSchema)
    .default([])
    .describe('a word on each change of what checks the work, if the prompt names any'),
};

/** A reviewer's answer: the schema `review`. The last three fields are those of a review with categories. */
export const reviewAnswerSchema = z.object({
  ...verdictFields,
  category: z.string().nullable().exactOptional(),
  required_inputs: z.array(z.string()).exactOptional(),
  recommended_next_step: z.string().nullable().exactOptional(),
});
export type ReviewAnswer = z.infer<typeof reviewAnswerSchema>;

/** The form of a reviewer's answer. `categories`: a rejection has to name one of them; empty: it names none. */
export function reviewForm(categories: readonly string[]): z.ZodType {
  if (categories.length === 0) return z.object(verdictFields);
  return z.object({
    ...verdictFields,
    category: z.enum(categories).nullable(),
    required_inputs: z.array(z.string()),
    recommended_next_step: z.string().nullable(),
  });
}

/** Why work cannot go on, and what would help, in the words of its reviewer. */
export interface Blockage {
  readonly required_inputs: readonly string[];
  readonly recommended_next_step: string | null;
}

/**
 * Findings in a form that can be compared between rounds: without case, punctuation, spacing and line numbers. Sorted, without
 * duplicates.
 */
export function normaliseFindings(texts: readonly string[]): string[] {
  return [...new Set(texts.map(normaliseFinding).filter((text) => text !== ''))].sort();
}

export function normaliseFinding(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/:\d+(?::\d+)?(?!\p{L})/gu, ' ')
    .replaceAll(/\b(?:lines?|l) ?\d+(?: ?[-–] ?\d+)?/gu, ' ')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** The rule by which a rejection can be overruled. Without it, reviewers with ever new wishes would never let work pass. */
export const LATE_FINDINGS =
  'after a rejection, a finding counts only if it names a criterion, is repeated or is a regression';

/** A round's verdict in the words of its record. */
export function roundVerdict({ approved, overruled, silent = [] }: GivenVerdict): string {
  const said = approved ? 'approved' : overruled === true ? 'rejected, overruled' : 'rejected';
  const roles = silent.map((one) => (typeof one === 'string' ? one : one.role));
  return roles.length === 0 ? said : `${said} without a verdict of ${roles.join(', ')}`;
}

interface GivenVerdict {
  readonly approved: boolean;
  readonly overruled?: true | undefined;
  readonly silent?: readonly (string | { readonly role: string })[] | undefined;
}

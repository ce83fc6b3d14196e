import { z } from 'zod';

/** No field is optional, because strict structured output requires all. */
const findingSchema = z.object({
  text: z.string(),
  /** The criterion that it violates, from 0; null: none. */
  criterion: z.number().int().nullable(),
  /** An earlier round found it and it is not fixed. */
  repeated: z.boolean(),
});
export type Finding = z.infer<typeof findingSchema>;

/** A reviewer's answer: the schema `review`. */
export const reviewAnswerSchema = z.object({
  approved: z.boolean(),
  summary: z.string(),
  findings: z.array(findingSchema),
});
export type ReviewAnswer = z.infer<typeof reviewAnswerSchema>;

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

import { z } from 'zod';

/** Why a finding blocks. The first two are for a first review, `criterion` for all. */
const BLOCKS = ['criterion', 'defect', 'not-fixed', 'new-harm'] as const;

/** No field is optional, because strict structured output requires all. */
const findingSchema = z.object({
  file: z.string().nullable().describe('the path of the file in the repository; null: it is about no file'),
  line: z.number().int().nullable().describe('the line in it as the commit has it, from 1; null: it is about no line'),
  wrong: z.string().describe('what is wrong, in one sentence'),
  right: z.string().describe('what would be right'),
  proof: z.string().describe('what shows it: the input, or the command in backticks, and what comes of it'),
  blocks: z
    .enum(BLOCKS)
    .nullable()
    .describe(
      [
        'null: a remark, which blocks nothing',
        '`criterion`: it breaks the criterion that `criterion` names',
        '`defect`: any other reason of your rules to block, in a first review',
        '`not-fixed`: an earlier finding that is still there',
        '`new-harm`: the change since the last review broke, lost or opened it',
      ].join('. '),
    ),
  criterion: z.string().nullable().describe('the label of the criterion that it breaks, such as C1; null: none'),
});
export type Finding = z.infer<typeof findingSchema>;

/** A reviewer's word on a finding of the round before. */
const settledSchema = z.object({
  finding: z.string().describe('its label, such as F1'),
  as: z
    .enum(['fixed', 'not-fixed', 'withdrawn'])
    .describe('`withdrawn`: the author or the code has convinced you that it is wrong'),
  why: z.string().describe('what shows it, in one sentence'),
});
export type SettledFinding = z.infer<typeof settledSchema>;

/** Files that findings name, as they are in the judged commit. A file that is missing here was not looked up. */
export const citedSchema = z.record(
  z.string(),
  z.object({
    /** null: there is no such file. */
    lines: z.number().int().nullable(),
    /** The work changed it. */
    changed: z.boolean(),
  }),
);
export type Cited = z.infer<typeof citedSchema>;

/** A reviewer's word on a change of what checks the work. */
const wordSchema = z.object({
  path: z.string(),
  accepted: z.boolean(),
  why: z.string().describe('one sentence'),
});

const verdictFields = {
  settled: z
    .array(settledSchema)
    .default([])
    .describe('a word on each finding F1, F2 … of the prompt; empty if it lists none'),
  findings: z.array(findingSchema).describe('what you found now; a rejection needs one that blocks, or one not fixed'),
  checks: z
    .array(wordSchema)
    .default([])
    .describe('a word on each change of what checks the work, if the prompt names any'),
  approved: z.boolean().describe('true: nothing blocks'),
  summary: z.string().describe('your verdict in one or two sentences'),
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
  'a finding blocks only if it is shown and, after a rejection, if it names a criterion, is not fixed or is new harm';

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

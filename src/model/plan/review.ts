import { z } from 'zod';

/** Without optional fields: strict structured output wants all of them. */
export const findingSchema = z.object({
  text: z.string(),
  /** Which of the review's criteria it offends, from 0; null: none. */
  criterion: z.number().int().nullable(),
  /** It was said in an earlier round and still stands. */
  repeated: z.boolean(),
});
export type Finding = z.infer<typeof findingSchema>;

/** What a reviewer answers: the schema named `review`. */
export const reviewAnswerSchema = z.object({
  approved: z.boolean(),
  summary: z.string(),
  findings: z.array(findingSchema),
});
export type ReviewAnswer = z.infer<typeof reviewAnswerSchema>;

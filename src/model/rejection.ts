import { z } from 'zod';

/** A review that rejected work for the last time, with what its reviewers said in each round. Texts are printable and shortened. API. */
export const rejectionSchema = z.strictObject({
  /** The stage of the review; in a run without stages, the task. */
  stage: z.string(),
  /** The task that was rejected; null: a stage judged all of the work. */
  task: z.string().nullable(),
  /** Rounds that were allowed. */
  cap: z.int(),
  rounds: z.array(
    z.strictObject({
      round: z.int(),
      approved: z.boolean(),
      text: z.string(),
      /** It has the same findings as the round before. */
      repeated: z.boolean(),
    }),
  ),
  /** Path of the whole report about it, relative to the repository. */
  file: z.string(),
});
export type Rejection = z.infer<typeof rejectionSchema>;

/** Work that was reviewed, and the rounds that it took. `stage`: of the review; null: its playbook has no stages. */
export const reviewCountSchema = z.object({ stage: z.string().nullable(), reviews: z.int(), rounds: z.int() });
export type ReviewCount = z.infer<typeof reviewCountSchema>;

import { z } from 'zod';
import { labelSchema } from './settings.ts';

/** A person, or a team as `owner/team`; it goes into a command line after `=`. */
const reviewerSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}(?:\/[A-Za-z0-9][A-Za-z0-9_.-]{0,99})?$/,
    'is neither the login of a person nor owner/team',
  );

/** How the pull request of the whole is opened. */
export const requestShape = {
  draft: z.boolean().optional(),
  /** Who is asked for a review when it is opened. */
  reviewers: z.array(reviewerSchema).max(15).optional(),
  labels: z.array(labelSchema).max(20).optional(),
};

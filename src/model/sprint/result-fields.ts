import { z } from 'zod';

const lines = z.array(z.string().max(1_000)).max(50);

/** The fields of every answer of `plan-requests`. None is optional, because strict structured output requires all. */
export const RESULT_FIELDS = {
  role: z.string().describe('your role'),
  status: z.enum(['completed', 'failed']),
  summary: z.string().max(4_000),
  insights: lines.describe('what later work should know; squad keeps it and makes no item of it'),
  artifacts: lines.describe('paths that you read, and that matter'),
  error: z.string().max(1_000).nullable(),
};

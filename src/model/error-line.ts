import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from './errors.ts';

const codes = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

/** What a command with `--json` prints on standard output where it cannot do what was asked: API. */
export const errorLineSchema = z.strictObject({
  type: z.literal('error'),
  /** `bug`: squad is wrong, not its user. */
  code: z.enum([...codes, 'bug']),
  exitCode: z.int(),
  message: z.string(),
  /** What to do next, with the command to run where there is one; null: nothing is known to help. */
  next: z.string().nullable(),
  /** Which run it is about, where a command drives several. */
  run: z.string().optional(),
});
export type ErrorLine = z.infer<typeof errorLineSchema>;

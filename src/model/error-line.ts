import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from './errors.ts';

const codes = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

/** The line that a failing command with `--json` prints on standard output. API. */
export const errorLineSchema = z.strictObject({
  type: z.literal('error'),
  /** `bug`: an error in squad itself. */
  code: z.enum([...codes, 'bug']),
  exitCode: z.int(),
  message: z.string(),
  /** The next step, with a command if there is one; null if none is known to help. */
  next: z.string().nullable(),
  /** The run that failed, if a command drives several. */
  run: z.string().optional(),
});
export type ErrorLine = z.infer<typeof errorLineSchema>;

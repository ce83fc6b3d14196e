import { z } from 'zod';

/** Ids of messages, tasks and sessions. Wider than squad's own, so that ids of other systems pass. */
export const idSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/,
    'needs 1 to 128 letters, digits, dots, dashes, colons or underscores, a letter or digit first',
  );

export const addressSchema = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,31}$/, 'needs an address: at most 32 letters, digits and dashes, a letter first');

/** A path, usually with a line: `src/router.py#L50`. It must be checked before a file is opened by it. */
export const pathSchema = z
  .string()
  .regex(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]{1,500}$/, 'needs 1 to 500 characters in one line');

export const wordsSchema = z.string().regex(/\S/, 'needs some words');

/** Text for a title. */
export const labelSchema = z
  .string()
  .regex(/^(?=.*\S)[^\u0000-\u001f\u007f-\u009f\u2028\u2029]{1,100}$/, 'needs 1 to 100 characters in one line');

import { z } from 'zod';

/** Of messages, tasks and sessions on the wire: wider than squad's own, so that those of other systems pass. */
export const idSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/,
    'needs 1 to 128 letters, digits, dots, dashes, colons or underscores, a letter or digit first',
  );

export const addressSchema = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,31}$/, 'needs an address: at most 32 letters, digits and dashes, a letter first');

/** A path, mostly with a line: `src/router.py#L50`. Nobody opens a file by it unchecked. */
export const pathSchema = z
  .string()
  .regex(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]{1,500}$/, 'needs 1 to 500 characters in one line');

export const wordsSchema = z.string().regex(/\S/, 'needs some words');

/** What ends up in a title. */
export const labelSchema = z
  .string()
  .regex(/^(?=.*\S)[^\u0000-\u001f\u007f-\u009f\u2028\u2029]{1,100}$/, 'needs 1 to 100 characters in one line');

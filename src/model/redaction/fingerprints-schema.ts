import { z } from 'zod';
import type { Fingerprints } from './fingerprints.ts';

export const fingerprintsSchema: z.ZodType<Fingerprints> = z.strictObject({
  salt: z.string().min(1),
  marks: z.array(z.tuple([z.int().positive(), z.int().nonnegative(), z.string().min(1)]).readonly()).readonly(),
});

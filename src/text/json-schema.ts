import { z } from 'zod';
import type { Json } from './json.ts';

export const jsonSchema: z.ZodType<Json> = z.json();

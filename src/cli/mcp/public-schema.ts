import { z } from 'zod';

/** Requests to models carry this schema: short, and without patterns, because not every model's API accepts every one. */
export function publicSchema(input: z.ZodObject, io: 'input' | 'output' = 'input'): Readonly<Record<string, unknown>> {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io,
    override: ({ jsonSchema }) => {
      delete jsonSchema.pattern;
      delete jsonSchema.propertyNames;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return schema;
}

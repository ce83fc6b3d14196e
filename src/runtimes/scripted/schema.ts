import { z } from 'zod';
import { FAILURE_KINDS } from '../../model/failure.ts';
import { jsonSchema } from '../../text/json-schema.ts';

const failure = {
  kind: z.enum(FAILURE_KINDS),
  message: z.string(),
  httpStatus: z.number().int().optional(),
  retryAt: z.number().int().optional(),
};

/** As it is said: whether it can be true is judged for every runtime alike. */
const readingSchema = z.object({
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number().optional(),
});

/** The player's output, one object a line. Counters in `usage` run over the whole session, as with the real CLIs. */
export const playerEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), id: z.string(), resumed: z.boolean(), model: z.string().optional() }),
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking'), text: z.string() }),
  z.object({
    type: z.literal('tool-started'),
    id: z.string(),
    tool: z.string(),
    kind: z.enum(['edit', 'execute', 'mcp']),
    input: jsonSchema,
    server: z.string().exactOptional(),
  }),
  z.object({
    type: z.literal('tool-ended'),
    id: z.string(),
    ok: z.boolean(),
    denied: z.boolean(),
    output: z.string(),
    exitCode: z.number().int().optional(),
  }),
  z.object({ type: z.literal('retry'), ...failure }),
  z.object({ type: z.literal('error'), ...failure }),
  z.object({
    type: z.literal('result'),
    text: z.string(),
    structured: jsonSchema.optional(),
    usage: readingSchema.optional().catch(undefined),
  }),
]);
export type PlayerEvent = z.infer<typeof playerEventSchema>;

import { z } from 'zod';
import { FAILURE_KINDS } from '../../model/failure.ts';
import { jsonSchema } from '../../text/json-schema.ts';

const TOOL_KINDS = ['read', 'edit', 'execute', 'fetch', 'mcp', 'agent', 'other'] as const;

/** As it is said: whether it can be true is judged for every runtime alike. */
const readingSchema = z.object({
  inputTokens: z.number().exactOptional(),
  cachedInputTokens: z.number().exactOptional(),
  outputTokens: z.number().exactOptional(),
  reasoningTokens: z.number().exactOptional(),
  costUsd: z.number().exactOptional(),
});

/** A line of the output of a turn. */
export const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), id: z.string(), resumed: z.boolean() }),
  z.object({ type: z.literal('text'), text: z.string(), delta: z.boolean().default(false) }),
  z.object({ type: z.literal('thinking'), text: z.string() }),
  z.object({ type: z.literal('notice'), text: z.string() }),
  z.object({
    type: z.literal('tool-started'),
    id: z.string(),
    tool: z.string(),
    kind: z.enum(TOOL_KINDS).default('other'),
    input: jsonSchema.default(null),
    server: z.string().exactOptional(),
  }),
  z.object({
    type: z.literal('tool-ended'),
    id: z.string(),
    ok: z.boolean(),
    denied: z.boolean().default(false),
    output: z.string().default(''),
    exitCode: z.number().int().exactOptional(),
  }),
  z.object({ type: z.literal('usage'), usage: readingSchema, steps: z.number().int().exactOptional() }),
  z.object({
    type: z.literal('error'),
    failure: z.object({
      kind: z.enum(FAILURE_KINDS),
      message: z.string(),
      httpStatus: z.number().int().exactOptional(),
      retryAt: z.number().int().exactOptional(),
    }),
  }),
  z.object({ type: z.literal('result'), text: z.string(), structured: jsonSchema.exactOptional() }),
]);
export type Line = z.infer<typeof lineSchema>;
export type LineOf<Type extends Line['type']> = Extract<Line, { type: Type }>;

const toolSchema = z.object({
  name: z.string(),
  description: z.string().default(''),
  inputSchema: z.record(z.string(), z.unknown()).default({}),
});

/** Messages from the stand-in to the application. */
export const messageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('ready'),
    token: z.string(),
    servers: z.array(
      z.object({ name: z.string(), tools: z.array(toolSchema).default([]), problem: z.string().optional() }),
    ),
  }),
  z.object({
    type: z.literal('answer'),
    id: z.number(),
    result: z.object({ isError: z.boolean().optional(), content: z.array(z.unknown()).default([]) }).optional(),
    error: z.string().optional(),
  }),
  z.object({ type: z.literal('cancel') }),
]);
type StandInMessage = z.infer<typeof messageSchema>;
export type Ready = Extract<StandInMessage, { type: 'ready' }>;

import { z } from 'zod';
import { headersSchema, urlSchema } from './settings-text.ts';

export const SINKS = ['langsmith', 'otlp'] as const;
export type SinkName = (typeof SINKS)[number];

/** Where squad sends traces of its runs; the name of a sink alone is short for a mapping. */
export const tracingSchema = z.preprocess(
  (value, context) => {
    if (typeof value !== 'string') return value;
    if (SINKS.some((sink) => sink === value)) return { to: value };
    context.addIssue({ code: 'custom', message: `names no sink; there are ${SINKS.join(' and ')}` });
    return z.NEVER;
  },
  z.strictObject({
    to: z.enum(SINKS),
    /** Absent: as the environment says, or the sink's own. */
    endpoint: urlSchema.optional(),
    /** LangSmith's project. */
    project: z
      .string()
      .regex(/^[^\s\p{Cc}](?:[^\p{Cc}]{0,198}[^\s\p{Cc}])?$/u, 'needs the name of a project')
      .optional(),
    /** true: with prompts, answers, and what tools were given and gave back. */
    content: z.boolean().default(false),
    /** By header: the name of the variable that holds its value. */
    headers: headersSchema.optional(),
  }),
);
export type Tracing = z.infer<typeof tracingSchema>;

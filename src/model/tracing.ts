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

export const tracedPlaceSchema = z.object({
  to: z.enum(SINKS),
  /** Without its path, which may hold a key. */
  endpoint: z.string(),
  /** LangSmith's. */
  project: z.string().optional(),
  /** With prompts, answers, and what tools were given and gave back. */
  content: z.boolean(),
});

/** Where spans go, for people and programs. */
export type TracedPlace = z.infer<typeof tracedPlaceSchema>;

export const tracingEndSchema = z.object({
  /** Spans. `why`: what kept the last of those that were dropped from being sent. */
  sent: z.int().nonnegative(),
  dropped: z.int().nonnegative(),
  why: z.string().optional(),
  /** Scores that LangSmith got, and why it did not get those that there are. OTLP takes none. */
  scored: z.int().nonnegative(),
  unscored: z.string().optional(),
  /** The newest trace, as the endpoint names it. */
  trace: z.string().optional(),
  /** Its page; absent: not known. */
  link: z.string().optional(),
});
/** An endpoint got this of a run. */
export type TracingEnd = z.infer<typeof tracingEndSchema>;

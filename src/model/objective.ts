import { z } from 'zod';
import { frontMatterSchema } from './settings.ts';

export const criterionSchema = z.object({
  /** Without the checkbox and the command. */
  text: z.string(),
  /** Exits with 0 if the criterion holds. Untrusted until a person has agreed to it. */
  command: z.string().optional(),
  /** The state of its checkbox in the file, which is never evidence. */
  done: z.boolean(),
  /** The line of its checkbox, from 1. */
  line: z.int().positive(),
});
export type Criterion = z.infer<typeof criterionSchema>;

const deadlineSchema = z.object({
  text: z.string(),
  /** Epoch ms. */
  at: z.int(),
  line: z.int().positive(),
});
export type Deadline = z.infer<typeof deadlineSchema>;

/** The user's request, fixed for the run. */
export const objectiveSchema = z.object({
  file: z.string(),
  title: z.string(),
  goals: z.array(z.string()).min(1),
  /** Empty for a text without sections. */
  criteria: z.array(criterionSchema),
  constraints: z.array(z.string()),
  /** Markdown: the context section and everything else that has no place of its own, in the file's order. */
  context: z.string(),
  priority: z.string().optional(),
  deadline: deadlineSchema.optional(),
  frontMatter: frontMatterSchema,
  /** The whole file, byte for byte: what agents get to read. */
  text: z.string(),
});
export type Objective = z.infer<typeof objectiveSchema>;

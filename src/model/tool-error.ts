import { z } from 'zod';

/** One tool call that failed, or (`denied`) was not allowed. */
export const toolErrorSchema = z.object({
  tool: z.string(),
  /** Its command or path; empty if it named none. */
  input: z.string(),
  /** The end of its output. */
  output: z.string(),
  denied: z.boolean(),
});
export type ToolError = z.infer<typeof toolErrorSchema>;

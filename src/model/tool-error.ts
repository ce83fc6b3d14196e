import { z } from 'zod';

/** One tool call that came to nothing: it failed, or (`denied`) it was not let through. */
export const toolErrorSchema = z.object({
  tool: z.string(),
  /** The command or the path that it was about; empty where it named none. */
  input: z.string(),
  /** The end of what it answered. */
  output: z.string(),
  denied: z.boolean(),
});
export type ToolError = z.infer<typeof toolErrorSchema>;

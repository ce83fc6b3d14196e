import { z } from 'zod';
import { someLimitsSchema } from '../model/limits.ts';

/** What a thread that is no run yet takes. */
const startInputSchema = z.strictObject({
  objective: z
    .string()
    .min(1)
    .describe('What to do, in words; or the path of a Markdown file, from the folder of the repository.'),
  playbook: z.string().optional().describe('Default: as the objective or squad.yaml says.'),
  runtime: z.string().optional().describe('Uses this runtime for all turns.'),
  limits: someLimitsSchema.optional(),
});

/** In words, for whoever asks about a thread that is no run. */
export const START_INPUT = '{objective, playbook?, runtime?, limits?}, where objective is text or a path';

/** Where the server looks for the schema of the input. */
export const START_SCHEMA = {
  getJsonSchema: startJsonSchema,
  getInputJsonSchema: startJsonSchema,
};

function startJsonSchema() {
  return z.toJSONSchema(startInputSchema);
}

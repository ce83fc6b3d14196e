import { z } from 'zod';
import { LIMITS } from '../model/limit-table.ts';
import { MESSAGES_SCHEMA } from './conversation.ts';
import { someLimitsSchema } from '../model/limits.ts';

/**
 * Input of a thread that is no run yet. Its limits are those that `squad run` has options for. It may ask for an approval of the plan that
 * squad.yaml does not ask for, and never the other way round.
 */
export const startInputSchema = z.strictObject({
  objective: z
    .string()
    .trim()
    .min(1)
    .optional()
    .describe('What to do, in words; or the path of a Markdown file, from the folder of the repository.'),
  messages: z
    .array(z.unknown())
    .min(1)
    .optional()
    .meta({
      ...MESSAGES_SCHEMA,
      description: 'In place of an objective: the last message of a person says what to do.',
    }),
  playbook: z.string().optional().describe('Default: as the objective or squad.yaml says.'),
  runtime: z.string().optional().describe('Uses this runtime for all turns.'),
  models: z
    .record(z.string().regex(/^[^=]+$/), z.string().min(1))
    .optional()
    .describe('By agent or role, as its runtime names it.'),
  name: z.string().optional().describe('Name of the run and its branch. Default: from the title.'),
  strict: z.boolean().optional().describe('Exit code 1 if something was not checked, or a person decided.'),
  plan: z.literal('ask').optional().describe('A person approves the plan. Default: as squad.yaml says.'),
  limits: someLimitsSchema.pick({ parallel: true, minutes: true, usd: true, turns: true, tokens: true }).optional(),
});
/** With the objective, which may have been a message. */
export type StartInput = Omit<z.infer<typeof startInputSchema>, 'messages'> & { readonly objective: string };

/** In words, for people who look at a thread that is no run. */
export const START_INPUT =
  '{objective, playbook?, runtime?, models?, name?, limits?, strict?, plan?}, where objective is text or a path; or {messages}, the last of which says what to do';

/** Where the server looks for the schema of the input. */
export const START_SCHEMA = {
  getJsonSchema: startJsonSchema,
  getInputJsonSchema: startJsonSchema,
};

function startJsonSchema() {
  return z.toJSONSchema(startInputSchema);
}

/** The options of `squad run` for this input. */
export function runOptions({ strict, plan, ...input }: StartInput): string[] {
  const asked = plan === undefined ? [] : [`--plan=${plan}`];
  return [...planOptions(input), ...(strict === true ? ['--strict'] : []), ...asked];
}

/** Those that `squad plan` has too. A value is part of its option, so that none is taken for another option. */
export function planOptions({ playbook, runtime, models = {}, name, limits = {} }: StartInput): string[] {
  const limited = LIMITS.map(({ key, flag }) => [flag?.name, limits[key as keyof typeof limits]] as const);
  const named = Object.entries(models).map((one) => ['--model', one.join('=')] as const);
  const who = [['--playbook', playbook] as const, ['--runtime', runtime] as const, ...named, ['--name', name] as const];
  return [...who, ...limited].flatMap(([name, value]) =>
    name === undefined || value === undefined ? [] : [`${name}=${value}`],
  );
}

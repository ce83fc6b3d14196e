import { z } from 'zod';
import type { Json } from '../../text/json.ts';
import { answerSchema } from '../shared/tasks.ts';
import { rolesToChoose, taskIdOf } from './list-facts.ts';
import type { Stage, StageList } from './stage-list.ts';

/** No field is optional in these, because strict structured output requires all. */
const entrySchema = z.object({
  id: z.string(),
  title: z.string(),
  brief: z.string(),
  needs: z.array(z.string()),
  paths: z.array(z.string()),
  acceptance: z.array(z.string()),
});

/** As squad reads them. `role`: only where the list leaves a choice. */
export const tasksSchema = z.object({ tasks: z.array(entrySchema.extend({ role: z.string().exactOptional() })) });
export type TasksAnswer = z.infer<typeof tasksSchema>;
export type Entry = TasksAnswer['tasks'][number];

export const verdictSchema = z.object({
  approved: z.boolean(),
  summary: z.string(),
  findings: z.array(
    z.object({
      file: z.string().nullable(),
      line: z.number().int().nullable(),
      problem: z.string(),
      suggestion: z.string().nullable(),
    }),
  ),
  criteria: z.array(
    z.object({
      /** Its number, from 0. */
      criterion: z.number().int(),
      met: z.boolean(),
      file: z.string().nullable(),
      line: z.number().int().nullable(),
      why: z.string(),
    }),
  ),
});
export type VerdictAnswer = z.infer<typeof verdictSchema>;

/** The name of the schema that a stage's answer has; undefined: it answers in its own words. */
export function schemaNameOf(stage: Stage): string | undefined {
  const { makes } = stage;
  if (!('answer' in makes) || makes.answer === undefined) return undefined;
  return typeof makes.answer === 'string' ? makes.answer : `answer-${taskIdOf(stage)}`;
}

export function schemasOf({ stages }: StageList): Record<string, Record<string, Json>> {
  const own = stages.flatMap((stage) => {
    const { makes } = stage;
    const schema = 'answer' in makes && typeof makes.answer === 'object' ? makes.answer : undefined;
    return schema === undefined ? [] : [[schemaNameOf(stage) ?? '', { ...schema }] as const];
  });
  const entry = rolesToChoose({ stages }).length > 0 ? entrySchema.extend({ role: z.string() }) : entrySchema;
  const tasks = answerSchema(z.object({ tasks: z.array(entry) }));
  return { tasks, verdict: answerSchema(verdictSchema), ...Object.fromEntries(own) };
}

import { z } from 'zod';
import { itemSchema, itemStateSchema } from './item.ts';
import { findingSchema } from './finding.ts';
import { attachmentSchema } from './request.ts';
import { kickoffSchema } from './sprint.ts';

const entrySchema = z.object({
  ...{ id: z.string(), ...itemSchema.shape, ...itemStateSchema.omit({ at: true }).shape },
  /** Files that came with what people asked for. */
  attachments: z.array(attachmentSchema).optional(),
});

/** How the engine chooses among the roles that a step allows. The names are those of `policy.yaml`. */
const routingPolicySchema = z.object({
  roles: z.record(
    z.string(),
    z.object({
      strengths: z.array(z.string()),
      suggested_skills: z.array(z.string()),
      expected_behavior: z.string(),
      should_not_handle: z.array(z.string()),
    }),
  ),
});
export type RoutingPolicy = z.infer<typeof routingPolicySchema>;

/** A sprint's run is frozen with this: the backlog is as it was when the run was submitted. No other run plans until this one has. */
export const sprintOptionsSchema = z.object({
  /** `260324-Sprint-09:00`. */
  sprint: z.string(),
  kickoff: kickoffSchema,
  /** The absolute path of the folder with all attachments, for its agents. */
  files: z.string(),
  backlog: z.array(entrySchema),
  timezone: z.string(),
  approve: z.literal('todos').optional(),
  maxTodos: z.number().int(),
  advice: z.number().int(),
  /** Epoch ms; null: when its todos are done. */
  until: z.number().int().nullable(),
  policy: routingPolicySchema,
  /** The text of `COMMIT_POLICY.md`. */
  commitPolicy: z.string(),
  /** The estimate of the approval, in words. */
  estimate: z.string(),
});
export type SprintOptions = z.infer<typeof sprintOptionsSchema>;

/** A run that plans requests and findings is frozen with this. */
export const reviewOptionsSchema = z.object({
  /** The absolute path of the folder with all attachments, for its planner. */
  files: z.string(),
  requests: z.array(
    z.object({
      id: z.string(),
      text: z.string(),
      by: z.string(),
      joined: z.array(z.string()),
      attachments: z.array(attachmentSchema),
    }),
  ),
  findings: z.array(z.object({ id: z.string(), ...findingSchema.shape })),
  backlog: z.array(entrySchema),
});
export type ReviewOptions = z.infer<typeof reviewOptionsSchema>;

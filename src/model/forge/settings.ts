import { z } from 'zod';

/** As a forge writes them; without commas, which its API separates them by. */
export const labelSchema = z
  .string()
  .regex(/^[^\s,\p{C}](?:[^,\p{C}]{0,48}[^\s,\p{C}])?$/u, 'needs a label of 1 to 50 characters, without commas');

const playbookSchema = z
  .string()
  .regex(/^[^\s\u0000-\u001f-][^\u0000-\u001f]{0,299}$/, 'is neither the name of a playbook nor a file');

/** Who is heard: `owner` may change the repository's settings, `member` may push to it. */
const WHO = ['owner', 'member'] as const;
export type Who = (typeof WHO)[number];

export const whoSchema = z
  .array(z.enum(WHO))
  .min(1)
  .default([...WHO]);

const intakeSchema = z.strictObject({
  /** Open issues with it are taken, once for each time that it is set. */
  label: labelSchema.default('squad'),
  by: whoSchema,
  /** So many runs of issues at once, at most. */
  max: z.int().min(1).max(100).default(1),
  /** By label: the playbook of an issue that has it, too. The first one counts. */
  playbooks: z.record(labelSchema, playbookSchema).default({}),
});
export type IntakeSettings = z.infer<typeof intakeSchema>;

/** The section `forge` of `squad.yaml`. */
export const forgeSchema = z
  .strictObject({
    remote: z.string().min(1).max(200).default('origin'),
    /** Issues that `squad serve` takes as runs. */
    intake: intakeSchema.optional(),
  })
  .optional();

export const FORGE_EXAMPLE = 'forge: { intake: { label: squad, by: [owner, member], max: 3 } }';

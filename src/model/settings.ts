import type { Finding } from '../text/explain-issue.ts';
import { z } from 'zod';
import { defined } from '../text/defined.ts';
import { followOf, followShape } from './forge/follow-settings.ts';
import { requestShape } from './forge/request-settings.ts';
import type { Json } from '../text/json.ts';
import { jsonSchema } from '../text/json-schema.ts';
import { pathPattern } from '../text/path-pattern.ts';
import { agentLimitsSchema, limitsSchema, someLimitsSchema } from './limits.ts';
import { spreadAgents } from './acp-agents.ts';
import { equipmentSettings } from './armory.ts';
import { keepSchema } from './keep.ts';
import { LOCALES } from './locale.ts';
import { ACP } from './runtime-name.ts';
import { forgeSchema } from './forge/settings.ts';
import { actionsSchema, channelsSchema } from './people/settings.ts';
import { schedulesSchema } from './schedule.ts';
import {
  argumentSchema,
  commandSchema,
  folderPathSchema,
  filePathSchema,
  runtimeNameSchema,
  slugSchema,
  variableSchema,
} from './settings-text.ts';
import { setupSchema, stepSchema, variablesSchema } from './setup-step.ts';
import { repositoriesSchema } from './repositories.ts';
import { serveSchema } from './shared-limits.ts';
import { isSlug } from './slug.ts';
import { tracingSchema } from './tracing.ts';

/** A name that ends up as an argument of git: nothing that git could take for an option, a range or a path outside. */
const gitNameSchema = z
  .string()
  .regex(
    /^(?!.*(?:\.\.|\/\/|\/$|\.lock$|\.$))[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$/,
    'is not a plain name that git takes',
  );

const modelSchema = z
  .string()
  .regex(/^[A-Za-z0-9][^\s\u0000-\u001f]{0,99}$/, 'needs a model’s name: no spaces, starting with a letter or digit');

/** By agent or role, in the runtime's own words. */
const modelsSchema = z.record(slugSchema, modelSchema);

const agentSchema = z.strictObject({
  name: slugSchema,
  role: slugSchema,
  runtime: runtimeNameSchema,
  model: modelSchema.optional(),
  access: z.enum(['read-only', 'edit', 'full']).default('edit'),
  /** false: it edits and does not commit; the role `committer` does, or else the engine. */
  commits: z.boolean().optional(),
  /** A Markdown file that is added to the agent's instructions. */
  instructions: filePathSchema.optional(),
  /** More tools the agent may use, in the runtime's own syntax. */
  allow: z.array(z.string().min(1).max(500)).max(100).optional(),
  limits: agentLimitsSchema.optional(),
  ...equipmentSettings,
});
export type AgentSettings = z.infer<typeof agentSchema>;

const runtimeSchema = z.strictObject({
  /** A program's name or path, never a command line. */
  command: commandSchema.optional(),
  /** Names of environment variables that are let through; their values are never written here. */
  env: z.array(variableSchema).max(100).default([]),
  /** Takes over while this runtime waits for a usage limit, or needs a login or a payment. */
  fallback: runtimeNameSchema.optional(),
  /** The runtime's own configuration keys. */
  config: z.record(z.string(), jsonSchema).optional(),
});

/** An agent that speaks the Agent Client Protocol, and how it starts. */
const acpAgentSchema = runtimeSchema.pick({ env: true }).extend({
  command: commandSchema,
  args: z.array(argumentSchema).max(100).optional(),
  /** The method of its login that takes a key or a token. */
  auth: z
    .string()
    .regex(/^[\w.:-]{1,100}$/, 'needs the id of a method')
    .optional(),
  /** In which ways it differs from others. */
  quirks: z.record(z.string(), jsonSchema).optional(),
});

/** A line of a `.worktreeinclude`. */
const includeSchema = z
  .string()
  .min(1)
  .max(255)
  .regex(/^(?!\s|#)[^\u0000-\u001f\u007f]+$/, 'is no pattern of files, such as .env or config/*.local');

const patternSchema = z
  .string()
  .max(255)
  .refine((text) => pathPattern(text) !== undefined, 'is no pattern of paths from the root, such as tests/**');

/** Paths whose changes need the word of a reviewer. */
const protectSchema = z.array(patternSchema).max(100);

const checksSchema = z.enum(['now', 'base']);

const reviewSettingsSchema = z.strictObject({ looks: z.enum(['reported', 'required']).default('reported') });

const publishSchema = z
  .strictObject({
    remote: gitNameSchema.default('origin'),
    /** Absent: the branch that the run started from. */
    base: gitNameSchema.optional(),
    pr: z.boolean().default(false),
    ...requestShape,
    ...followShape,
  })
  .superRefine((publish, context) => {
    for (const key of Object.keys({ ...requestShape, ...followShape }))
      if (!publish.pr && key in publish)
        context.addIssue({ code: 'custom', path: [key], message: 'needs a pull request: `pr: true`' });
    if (publish.pr && publish.merge !== undefined && followOf(publish.follow) === undefined)
      context.addIssue({ code: 'custom', path: ['merge'], message: 'needs `follow: true`, which sees approvals' });
  });

const PLACEHOLDERS = ['session', 'role'];

const teamSchema = z.strictObject({
  members: z.int().positive().max(26).default(4),
  windowName: z
    .string()
    .min(1)
    .max(100)
    .refine(
      (text) => [...text.matchAll(/\{([^{}]*)\}/g)].every((match) => PLACEHOLDERS.includes(match[1] ?? '')),
      'may hold the placeholders {session} and {role}, and no other',
    )
    .default('team-{session}-{role}'),
});

const addressSchema = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,31}$/, 'needs an agent’s name, a role, MAIN or a letter: at most 32 characters');

const mailSchema = z.strictObject({
  locale: z.enum(LOCALES).default('en'),
  ttlMinutes: z.number().positive().max(525_600).default(1440),
  /** By agent or role: the agents and roles that it may write to, in place of what the playbook says. MAIN always is. */
  routes: z.record(addressSchema, z.array(addressSchema).max(64)).optional(),
});

/** A playbook by its name, or a mapping that its own schema will read. */
const playbookSchema = z.custom<string | Record<string, z.infer<typeof jsonSchema>>>(
  (value) => (typeof value === 'string' ? isSlug(value) : z.record(z.string(), jsonSchema).safeParse(value).success),
  'is neither the name of a playbook nor a mapping that defines one',
);

/** `squad.yaml`, and the user's own file for all repositories. */
export const settingsSchema = z.strictObject({
  version: z.literal(1).default(1),
  /** Absent: the default one. */
  playbook: playbookSchema.optional(),
  /** The roster; absent: made from the runtimes that are found. */
  agents: z.array(agentSchema).min(1).max(32).optional(),
  /** For agents without a model of their own. */
  models: modelsSchema.default({}),
  runtimes: z.record(z.string(), runtimeSchema).default({}),
  limits: limitsSchema.prefault({}),
  /** In each new folder in which work is built or checked. */
  setup: setupSchema.default([]),
  /** By the engine, on the merged candidate. */
  verify: z.array(stepSchema).max(50).default([]),
  /** Variables that commands get: `setup`, `verify`, and what a criterion, a stage or a task runs. */
  env: variablesSchema.default([]),
  /** Ignored files that folders get in which work is built or checked, besides those of `.worktreeinclude`, in its syntax. */
  copy: z.array(includeSchema).max(100).default([]),
  /** How long what runs leave is kept, and ignored files that stay in folders for checks. */
  keep: keepSchema.prefault({}),
  /** `new`: each task gets a folder that no task had before. `reuse`: a large one may be brought back, file by file, for the next task. */
  folders: z.enum(['reuse', 'new']).default('reuse'),
  /** Agents' folders have the files of these folders alone, and those beside and above them. Empty: all files. Checks have all in any case. */
  sparse: z.array(folderPathSchema).max(100).default([]),
  /** More repositories that each run works on, which are delivered together. */
  repositories: repositoriesSchema.default([]),
  /** Paths whose changes a reviewer has to accept explicitly. Those of the objective are added. */
  protect: protectSchema.default([]),
  /** `base`: where the work changed what checks it, the commands also run with that as it was on the base commit. */
  checks: checksSchema.default('now'),
  /** `looks: required`: an approval of an agent that looked at nothing goes back once. */
  review: reviewSettingsSchema.prefault({}),
  /**
   * Whether `setup` and `verify` run once on the base commit while the planner works. `report`: what fails there is reported. `green`:
   * it holds the run, too. A command that cannot run at all holds it in both.
   */
  baseline: z.enum(['report', 'green', 'off']).default('report'),
  /** `ask`: a person approves the plan before its tasks start. Absent: `ask` where a person can be asked, otherwise `auto`. */
  plan: z.enum(['ask', 'auto']).optional(),
  /** The exit code is 1 if a criterion was not checked, or if a person skipped or accepted a task. */
  strict: z.boolean().default(false),
  /** Run when a run needs a person or ends. */
  notify: commandSchema.optional(),
  /** Absent: nothing is pushed. */
  publish: publishSchema.optional(),
  /** Absent: squad sends no traces unless it is asked on the command line. */
  tracing: tracingSchema.optional(),
  /** Limits of all runs of the repository together. */
  serve: serveSchema.prefault({}),
  /** Objectives that `squad serve` starts by the clock. */
  schedules: schedulesSchema,
  /** Where people talk to squad while `squad serve` runs. */
  channels: channelsSchema,
  /** Commands that people may run by their names. */
  actions: actionsSchema,
  /** Issues that `squad serve` takes. */
  forge: forgeSchema,
  team: teamSchema.prefault({}),
  mail: mailSchema.prefault({}),
});
export type Settings = z.infer<typeof settingsSchema> & {
  /** The settings of playbooks, under their names. */
  readonly [playbook: string]: unknown;
};

/** The settings of one playbook, under its name. */
export interface SettingsSection {
  readonly schema: z.ZodType;
  /** A correct one, shown with a problem. */
  readonly example: string;
}

/** The names that `squad.yaml` may use. */
export interface KnownNames {
  readonly runtimes: readonly string[];
  /** By runtime: keys of its `config` that name files. */
  readonly configFiles?: Readonly<Record<string, readonly string[]>>;
  /** By playbook. */
  readonly sections: Readonly<Record<string, SettingsSection>>;
  /** Problems of a mapping under `playbook`. `staffed`: the roles of the agents; undefined: no file names agents. */
  checkList(list: Json, staffed: readonly string[] | undefined): readonly Finding[];
}

/** `squad.yaml` where these runtimes and playbooks are registered. */
export function settingsSchemaFor({ runtimes, sections }: Pick<KnownNames, 'runtimes' | 'sections'>) {
  const name = z.enum(runtimes);
  const one = runtimeSchema.extend({ fallback: name.optional() }).optional();
  const acp = z.strictObject({ agents: z.record(slugSchema, acpAgentSchema).default({}) }).optional();
  const byName = z
    .strictObject({ ...Object.fromEntries(runtimes.map((runtime) => [runtime, one])), [ACP]: acp })
    .default({})
    .transform((named) => spreadAgents(named));
  return settingsSchema.extend({
    agents: z
      .array(agentSchema.extend({ runtime: name }))
      .min(1)
      .max(32)
      .optional(),
    // A name that is there has settings, which its type does not say.
    runtimes: byName as unknown as typeof settingsSchema.shape.runtimes,
    ...Object.fromEntries(Object.entries(sections).map(([playbook, { schema }]) => [playbook, schema.optional()])),
  });
}

/** The front matter of an objective file. */
export const frontMatterSchema = z.strictObject({
  name: slugSchema.optional(),
  playbook: slugSchema.optional(),
  limits: someLimitsSchema.optional(),
  protect: protectSchema.optional(),
  checks: checksSchema.optional(),
  review: reviewSettingsSchema.optional(),
});
export type FrontMatter = z.infer<typeof frontMatterSchema>;

/** Settings of runtimes after a move. The preflight has made the paths of programs and files in them absolute. */
export function placedRuntimes(runtimes: Settings['runtimes'], moved: (path: string) => string): Settings['runtimes'] {
  const placed = Object.entries(runtimes).map(([name, { command, config, ...rest }]) => {
    const values = Object.entries(config ?? {}).map(([key, value]) => [
      key,
      typeof value === 'string' ? moved(value) : value,
    ]);
    const own = { command: command && moved(command), config: config && Object.fromEntries(values) };
    return [name, defined({ ...rest, ...own })];
  });
  return Object.fromEntries(placed);
}

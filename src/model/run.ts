import { z } from 'zod';
import { copiedFileSchema } from './copied-file.ts';
import { accessSchema } from './access.ts';
import { equipmentSchema } from './armory.ts';
import { defined } from '../text/defined.ts';
import { asObject } from '../text/json.ts';
import { jsonSchema } from '../text/json-schema.ts';
import { criterionSchema, objectiveSchema } from './objective.ts';
import { isRuntimeName } from './runtime-name.ts';
import { describedRuntimesSchema } from './runtime-description.ts';
import { agentLimitsSchema, limitsSchema, raiseLimits } from './limits.ts';
import { doubtfulSchema } from './plan/baseline.ts';
import type { Reload } from './plan/intervention.ts';
import { RUN_ENDS } from './run-state.ts';
import { keptPathsSchema } from './keep.ts';
import { deliveredRepositorySchema, joinedRepositoriesSchema } from './repositories.ts';
import { placedRuntimes, settingsSchema } from './settings.ts';
import { isSlug } from './slug.ts';

/** One agent of a run, with everything it is bound to, frozen: what the repository says later changes nothing. */
const boundAgentSchema = z.object({
  name: z.string().refine(isSlug),
  role: z.string().refine(isSlug),
  runtime: z.string().refine(isRuntimeName),
  model: z.string().optional(),
  access: accessSchema,
  /** Absent: as its access allows. */
  commits: z.boolean().optional(),
  /** Its whole session instructions: role, rules, and the file that `agents[].instructions` names. */
  instructions: z.string(),
  /** More tools it may use, in the runtime's own syntax. */
  allow: z.array(z.string()).optional(),
  /** Absent: none but the run's. */
  limits: agentLimitsSchema.optional(),
  /** Agents with the same account share one usage limit. */
  account: z.string(),
  ...equipmentSchema,
});
export type BoundAgent = z.infer<typeof boundAgentSchema>;

/** How a run came into the queue. */
const submissionSchema = z.object({
  /** Epoch ms. */
  at: z.int(),
  by: z.string(),
  /** A branch, tag or commit, which is looked up when the run starts. Absent: it begins with the commit of `repository`. */
  base: z.string().optional(),
  /** Id of the run that it begins with the result of. */
  after: z.string().optional(),
});
export type Submission = z.infer<typeof submissionSchema>;

/** All that a run was started with, stored with it. A resumed run uses this and not the files. */
export const runDefinitionSchema = z.object({
  version: z.literal(1),
  name: z.string().refine(isSlug),
  source: z.string(),
  objective: objectiveSchema.omit({ file: true, frontMatter: true }).extend({
    goals: z.array(z.string()),
    criteria: z.array(criterionSchema),
    /** Epoch ms. */
    deadline: z.int().optional(),
  }),
  playbook: z.string(),
  /** Real path of the folder that it keeps up to date. Absent: it writes nowhere outside of the state folder. */
  folder: z.string().optional(),
  /** The settings that the playbook uses. */
  options: jsonSchema,
  agents: z.array(boundAgentSchema).min(1),
  /** Roles that judge work of others, in order of preference. */
  judges: z.array(z.string()),
  /** Bodies of prompts that the repository has changed, by name. Absent: all are squad's. */
  prompts: z.record(z.string(), z.string()).optional(),
  /** Stands for all prompts that the run began with. Absent: an older version of squad began it. */
  promptHash: z.string().optional(),
  runtimes: settingsSchema.shape.runtimes,
  /** Descriptions of the runtimes that were registered at the start. */
  described: describedRuntimesSchema,
  limits: limitsSchema,
  setup: settingsSchema.shape.setup,
  verify: settingsSchema.shape.verify,
  /** Names only. Absent: commands get none. */
  env: settingsSchema.shape.env.unwrap().optional(),
  /** Absent: none. */
  copied: z.array(copiedFileSchema).optional(),
  /** Absent: nothing. */
  keep: keptPathsSchema.optional(),
  /** Absent: folders of tasks are used again. */
  folders: z.literal('new').optional(),
  /** Absent: folders of tasks have all files. */
  sparse: settingsSchema.shape.sparse.unwrap().optional(),
  /** Protected paths of the settings and of the objective together. Absent: none. */
  protect: settingsSchema.shape.protect.unwrap().optional(),
  /** Absent: the commands run as they are in the work alone. */
  checks: z.literal('base').optional(),
  /** Absent: an approval without a look is only reported. */
  looks: z.literal('required').optional(),
  baseline: settingsSchema.shape.baseline.unwrap(),
  /** Absent: there are none. */
  doubtful: doubtfulSchema.optional(),
  notify: settingsSchema.shape.notify,
  publish: settingsSchema.shape.publish,
  mail: settingsSchema.shape.mail,
  tracing: settingsSchema.shape.tracing,
  repository: z.object({
    root: z.string(),
    base: z.string(),
    /** The branch that is to get the work; undefined: HEAD was detached. */
    branch: z.string().optional(),
    /** As a person named the beginning; undefined: the commit that was checked out. */
    from: z.string().optional(),
  }),
  /** `base` is the commit that has all of them. Absent: it works on one. */
  repositories: joinedRepositoriesSchema.optional(),
  /** `ask`: a person approves the plan. */
  plan: settingsSchema.shape.plan.unwrap(),
  /** `false`: no work of it is delivered, so it has no run branch. */
  makesBranch: z.literal(false).optional(),
  /** Hash of the commands that a person consented to; null if there are none. */
  trusted: z.string().nullable(),
  /** The exit code is 1 if a criterion was not checked, or if a person skipped or accepted a task. */
  strict: z.boolean(),
  /** It was recorded before any engine had it. Absent: the process that recorded it drove it. */
  submitted: submissionSchema.optional(),
  /** The settings that the plan began with, if a reload has amended them since. Never stored. */
  began: z
    .object({
      prepares: z.boolean(),
      verifies: z.boolean(),
      commands: z.array(z.string()),
      criteria: z.array(criterionSchema),
      doubtful: doubtfulSchema.optional(),
    })
    .optional(),
});
export type RunDefinition = z.infer<typeof runDefinitionSchema>;

/** The name, below `refs/squad/<run>`, of a commit that a person or another program had put on the run branch. */
export function foreignName(commit: string): string {
  return `foreign-${commit.slice(0, 12)}`;
}

/** Differs from the id of any attempt of a task with that name, which ends in a small number. */
export function isForeignName(name: string): boolean {
  return /^foreign-[0-9a-f]{12}$/.test(name);
}

/** undefined: the run makes none. */
export function branchOf({ name, makesBranch }: Pick<RunDefinition, 'name' | 'makesBranch'>): string | undefined {
  return makesBranch === false ? undefined : `squad/${name}`;
}

/** The definition of a run whose repository is at `root` now: a checkout can be moved, and what lies inside moves with it. */
export function placedAt(definition: RunDefinition, root: string): RunDefinition {
  const { repository, folder, makesBranch } = definition;
  if (repository.root === root) return definition;
  const moved = (path: string): string =>
    path.startsWith(`${repository.root}/`) ? `${root}${path.slice(repository.root.length)}` : path;
  const options = asObject(definition.options);
  // Here `folder` of the options is the one that the run makes.
  const made = makesBranch === false && typeof options['folder'] === 'string' ? moved(options['folder']) : undefined;
  return {
    ...definition,
    runtimes: placedRuntimes(definition.runtimes, moved),
    ...(folder === undefined ? {} : { folder: moved(folder) }),
    ...(made === undefined ? {} : { options: { ...options, folder: made } }),
    repository: { ...repository, root },
  };
}

/** The run's definition after a reload. It keeps the settings that the plan began with, because replay starts from them. */
export function amendRun(definition: RunDefinition, reload: Reload): RunDefinition {
  const { setup, verify, env, limits, trusted, criteria, doubtful } = reload;
  return {
    ...definition,
    ...(criteria === undefined ? {} : { objective: { ...definition.objective, criteria }, doubtful }),
    setup,
    verify,
    ...defined({ env }),
    limits: raiseLimits(definition.limits, limits),
    trusted,
    began: definition.began ?? {
      prepares: definition.setup.length > 0,
      verifies: definition.verify.length > 0,
      commands: definition.verify.map(({ run }) => run),
      criteria: definition.objective.criteria,
      doubtful: definition.doubtful,
    },
  };
}

/** Events of a run's stream that the engine writes besides the ledger's own. */
export const RUN_EVENTS = {
  /** First of all; data is the `RunDefinition`. */
  defined: 'run-defined',
  /** The commit that a submitted run begins with, where that was looked up when it started; data is `{base}`. */
  based: 'run-based',
  /** A submitted run could not start, or a person dropped it from the queue; data is `{why, dropped?}`. */
  startRefused: 'start-refused',
  /** Limits that `resume` raised; data is some of `Limits`. */
  limitsRaised: 'limits-raised',
  armoryBound: 'armory-bound',
  /** The run branch and its base. */
  workspaceAllocated: 'workspace-allocated',
  /** An engine took the run up again. */
  resumed: 'run-resumed',
  /** Something outside the plan has changed (a limit was reached, a drain asked for), so the graph decides again. */
  woken: 'run-woken',
  /** Something an operation or a watch found out about a task; data is `{task, event: WorkEvent}`. */
  work: 'work-observed',
  /** squad checked the run branch before the run may end; data is the news `gate-checked`. */
  gate: 'gate-checked',
  /** squad checked the base commit; data is the news `baseline-checked`. */
  baseline: 'baseline-checked',
  /** The engine tried to put the run branch back where the ledger has it; data is the news `branch-restored`. */
  branch: 'branch-restored',
  /** The machine's clock was set back by `ms`: data is `{ms}`. */
  clockSetBack: 'clock-set-back',
  /** One entry of the plan (`PlanEntry`), as a decision. */
  plan: 'plan-entry',
  decided: 'next-decided',
  /** The run began as a fork; data is `Forked`. Its first decisions are those of its parent. */
  forked: 'run-forked',
  /** The run's work was published; data is `PublishFacts`. */
  published: 'run-published',
  /** Whether the folder of the run is complete, where that has changed; data is `FolderWritten`. */
  folder: 'folder-written',
  /** The run is over, and everything of it is written; data is its `RunView`. */
  ended: 'end-written',
} as const;

/** The epoch of what a fork copies. Those of engines begin with 1. */
export const FORK_EPOCH = 0;

export const forkedSchema = z.object({
  parent: z.object({ runId: z.string(), seq: z.int() }),
  /** The commit that was delivered last: the run branch begins there. */
  head: z.string(),
  /** The last commit of each task, by the attempt whose ref keeps it. */
  kept: z.array(z.object({ attempt: z.string(), commit: z.string() })),
  /** Other commits that the plan names. */
  pins: z.array(z.string()),
});
export type Forked = z.infer<typeof forkedSchema>;

export const decidedSchema = z.object({
  next: z.enum(['start', 'wait', 'ask', 'finish', 'stop']),
  why: z.string(),
  because: z.enum(['limit', 'deadline', 'drained', 'waiting']).optional(),
  /** Epoch ms: the moment that the whole run waits for. */
  until: z.int().optional(),
});

export const publishFactsSchema = z.object({
  /** Absent: the run makes none. */
  branch: z.string().optional(),
  head: z.string(),
  /** Absent: nothing was to be pushed. */
  remote: z.string().optional(),
  pr: z.string().optional(),
  repositories: z.array(deliveredRepositorySchema).optional(),
  /** The folder that the run made: below the top of the checkout if it is there, else absolute. */
  made: z.string().optional(),
  /** The command that continues from there, and what a person should know of it. */
  next: z.string().optional(),
  note: z.string().optional(),
  /** The files that it wrote into the folder, if that was there before. Absent: it made the whole folder. */
  added: z.array(z.string()).optional(),
  /** Why what was asked for was not done: the run has failed then. */
  problem: z.string().optional(),
  /** Mail without an answer or an end when the run ended; absent: none. */
  mailLeft: z.string().optional(),
  kept: z.array(z.object({ path: z.string(), why: z.string() })),
  /** How the run ended. Added once its mail is closed. */
  summary: z
    .object({
      outcome: z.enum(RUN_ENDS),
      headline: z.string(),
      tasks: z.object({ all: z.int(), done: z.int() }),
    })
    .optional(),
});
export type PublishFacts = z.infer<typeof publishFactsSchema>;

/** Work of a run that left this machine. `pr`: the address of its pull request. */
export const pushedSchema = z.object({
  branch: z.string(),
  head: z.string(),
  remote: z.string(),
  pr: z.string().optional(),
});
export type PushedWork = z.infer<typeof pushedSchema>;

/** undefined: nothing was pushed. */
export function pushedOf(published: PublishFacts | undefined): PushedWork | undefined {
  const { branch, head, remote, pr } = published ?? {};
  if (branch === undefined || head === undefined || remote === undefined) return undefined;
  return { branch, head, remote, ...(pr === undefined ? {} : { pr }) };
}

import { z } from 'zod';
import { armoryFactsSchema } from '../model/armory-facts.ts';
import { criterionStatusSchema } from '../model/criterion-status.ts';
import { folderWrittenSchema } from '../model/folder-written.ts';
import { limitsSchema } from '../model/limits.ts';
import { checkerChangeSchema } from '../model/plan/checker.ts';
import { askedQuestionSchema } from '../model/plan/asked-question.ts';
import { SHOWN_STATUSES } from '../model/plan/task.ts';
import { rejectionSchema, reviewCountSchema } from '../model/rejection.ts';
import { repositoryViewSchema } from '../model/repositories.ts';
import { pushedSchema } from '../model/run.ts';
import { RUN_ENDS, RUN_STATES } from '../model/run-state.ts';
import { shownStageSchema } from '../model/shown-stage.ts';
import { taskFailureSchema } from '../model/task-failure.ts';
import { capUseSchema } from './cap-use.ts';
import { forkParentSchema } from './read-run.ts';
import { waitingForSchema } from './run-state.ts';
import { NEEDS } from './unfinished.ts';
import { usageCountSchema } from './usage-count.ts';

const count = z.int().nonnegative();

/** The mail of a run that needs attention. Times are epoch ms. */
const mailReadingSchema = z.strictObject({
  unread: count,
  /** When the oldest unread message was sent. */
  oldestUnread: z.int().nullable(),
  /** Questions without an answer; `overdue`: read half an hour ago, or past their deadline. */
  unanswered: count,
  overdue: count,
  /** Messages that could not be delivered and are still unread. */
  dead: count,
  members: z.array(
    z.strictObject({
      address: z.string(),
      online: z.boolean(),
      unread: count,
      oldestUnread: z.int().nullable(),
    }),
  ),
});
export type MailReading = z.infer<typeof mailReadingSchema>;

/** Mostly from the definition of the run. `squad status` shows these fields too. */
export const runPartSchema = z.strictObject({
  runId: z.string(),
  name: z.string(),
  /** The run that this one is a fork of, and the event up to which their decisions are the same. null: it is no fork. */
  parent: forkParentSchema.nullable(),
  playbook: z.string(),
  /** The folder that it plays; null: it plays none. */
  folder: z.string().nullable(),
  /**
   * The folders that its sinks write, by the names of the sinks. `problem`: why one was not complete when the last engine ended;
   * null: nothing is known to be missing, or an engine is running.
   */
  written: z.array(folderWrittenSchema),
  /** Its title. */
  objective: z.string(),
  /** Where the objective is from: a path as it was given, the URL of an issue, or words for people. */
  source: z.string(),
  /** Its beginning as a person named it: a branch, a tag or a commit. Absent: the commit that was checked out. */
  from: z.string().optional(),
  /** Folders of the repository that agents are given; absent: the whole of it. Checks always have the whole. */
  sparse: z.array(z.string()).optional(),
  /** Those that it works on, that in which it was started first; absent: that one alone. */
  repositories: z.array(repositoryViewSchema).optional(),
  /** Stands for all prompts that it began with (null: unknown), and those that its repository has changed. */
  prompts: z.strictObject({ hash: z.string().nullable(), changed: z.array(z.string()) }),
  /** Skills, servers, hooks and settings of each agent. */
  armory: z.array(armoryFactsSchema),
  startedAt: z.int(),
  /** No turn starts after it (epoch ms); null: there is none. */
  deadline: z.int().nullable(),
  /** null: it does not exist yet. */
  branch: z.string().nullable(),
});

/** From the plan. `squad status` shows these fields too. */
export const planPartSchema = z.strictObject({
  /**
   * Rounds of review that took place: by stage in a playbook with stages, else by task. Stages and tasks that no one reviews are
   * absent.
   */
  reviewRounds: z.record(z.string(), count),
  criteria: z.array(criterionStatusSchema),
  /** Files that check the work and that the work changed, as the last check of the run branch found them. */
  checkers: z.array(checkerChangeSchema),
  /** The commands of the last check of the run branch, with those files as they were; empty: they did not run so. */
  checksAtBase: z.array(z.strictObject({ run: z.string(), passed: z.boolean() })),
  /** Assumptions, and what is missing, of each delivered task whose author reports any: claims. */
  reported: z.array(z.strictObject({ task: z.string(), assumed: z.array(z.string()), notDone: z.array(z.string()) })),
  /** A line for each command that failed on the base commit: how it stands now. */
  baseline: z.array(z.string()),
  /** Files that a task had to create and that the engine found in delivered work. */
  artifacts: z.array(z.strictObject({ task: z.string(), path: z.string() })),
  /** Tasks that failed or were cancelled: why, and where their work is. */
  failures: z.array(taskFailureSchema),
  /** The reviews that rejected work for the last time, with what was said in each round. */
  rejections: z.array(rejectionSchema),
  /** Accounts at their usage limit. After `until` one turn starts alone and tests the limit (`probing`). */
  accounts: z.array(z.strictObject({ account: z.string(), until: z.int(), probing: z.boolean() })),
  /** Who let turns start after the deadline; null: no one. */
  pastDeadline: z.string().nullable(),
  /** The operator's pauses: `scope` is `run`, `agent/<name>` or `task/<id>`. */
  held: z.array(
    z.strictObject({ scope: z.string(), verb: z.enum(['pause', 'drain', 'stop']), by: z.string(), at: z.int() }),
  ),
  /** The operator's switches to another runtime: `scope` is `agent/<name>` or `task/<id>`. */
  switched: z.array(z.strictObject({ scope: z.string(), runtime: z.string(), model: z.string().nullable() })),
  /**
   * Notes to agents that no completed turn has had. `attempt`: the one whose prompt has it; null: none yet. `task`: the one that continues
   * with it; null: the agent's next turn has it. Absent: none.
   */
  notes: z
    .array(
      z.strictObject({
        ...{ agent: z.string(), text: z.string(), by: z.string(), at: z.int() },
        ...{ attempt: z.string().nullable(), task: z.string().nullable() },
      }),
    )
    .optional(),
});

export const tasksPartSchema = z.array(
  z.strictObject({
    id: z.string(),
    title: z.string(),
    role: z.string(),
    status: z.enum(SHOWN_STATUSES),
    round: count,
    /** The author's attempts; `reviewRounds` counts the reviews. */
    attempts: count,
  }),
);

export const usePartSchema = z.strictObject({
  usage: usageCountSchema.usage,
  limits: limitsSchema,
  /** Limits on what may be used, with what is used of each. */
  caps: z.array(capUseSchema),
});

export const waitsPartSchema = z.strictObject({
  /** Why the run does not continue by itself, and for what it waits. */
  waitingFor: waitingForSchema.nullable(),
  /** Agents that wait in the middle of their turns until a person allows a tool. */
  asks: z.array(z.strictObject({ id: z.string(), agent: z.string(), text: z.string(), until: z.int() })),
});

/**
 * A run, folded once from its ledger and plan. Each view of it (`status`, `runs`, the end of a command, statistics) is a pure
 * function of this. Plain JSON, because the ledger keeps it once the run is over. Times are epoch ms.
 */
export const runViewSchema = z.strictObject({
  version: z.literal(1),
  run: z.strictObject({
    ...runPartSchema.shape,
    state: z.enum(RUN_STATES),
    /** Need of a run that has to continue, in one word and in a few; null: it is over. */
    need: z.strictObject({ need: z.enum(NEEDS), why: z.string() }).nullable(),
    /** The branch that it delivers on, or will; null: it makes none. */
    delivers: z.string().nullable(),
  }),
  plan: z.strictObject({
    ...planPartSchema.shape,
    tasks: z.strictObject({ all: count, done: count }),
    /** Where it is, or ended; null: its playbook has no stages. */
    stage: z.strictObject({ id: z.string(), place: z.int(), of: z.int() }).nullable(),
    reviews: z.array(reviewCountSchema),
    base: z.string(),
    /** The commit that was delivered last. */
    delivered: z.string(),
  }),
  /** In their order; empty: the playbook has none. */
  stages: z.array(shownStageSchema),
  tasks: tasksPartSchema,
  turns: usageCountSchema.turns,
  /** `elapsedMs`: engine time over all segments. */
  use: usePartSchema.extend({ elapsedMs: z.number().nonnegative() }),
  /** Open ones; empty once the run is over. */
  questions: z.array(askedQuestionSchema),
  waits: waitsPartSchema,
  /** null: the run has no mailbox. */
  mail: mailReadingSchema.nullable(),
  /** Commands that continue from here, the most likely first. */
  next: z.array(z.string()),
  /** null: the run is not over. */
  end: z
    .strictObject({
      outcome: z.enum(RUN_ENDS),
      headline: z.string(),
      why: z.string(),
      exitCode: z.int(),
      /** The head of its branch as it was published; null: it has none. */
      head: z.string().nullable(),
      pushed: pushedSchema.optional(),
      /** It made a folder. */
      made: z.boolean(),
      /** Those of `next` that do not depend on where the work is now. */
      again: z.array(z.string()),
      /** There is work on its branch. */
      hasWork: z.boolean(),
    })
    .nullable(),
});
export type RunView = z.infer<typeof runViewSchema>;

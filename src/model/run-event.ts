import { z } from 'zod';
import { failureSchema } from './failure.ts';
import { limitsSchema } from './limits.ts';
import { askedPlanSchema, askedQuestionSchema } from './plan/asked-question.ts';
import { SHOWN_STATUSES } from './plan/task.ts';
import { decidedSchema, pushedSchema } from './run.ts';
import { RUN_OUTCOMES } from './run-state.ts';
import { rejectionSchema } from './rejection.ts';
import { shownStageSchema } from './shown-stage.ts';
import { taskFailureSchema } from './task-failure.ts';
import type { TurnEvent } from './turn-event.ts';
import { OUTCOMES } from './turn-result.ts';
import { tracedPlaceSchema, tracingEndSchema } from './tracing.ts';
import { usageSchema } from './usage.ts';

const base = { at: z.number().int(), runId: z.string() };
const attempt = { attemptId: z.string(), task: z.string(), agent: z.string() };
const status = z.enum(SHOWN_STATUSES);

/** Turn events that `run --json` passes on, with the attempt they belong to; the rest of their fields are the runtime port's. */
export const TURN_EVENTS = [
  'session-announced',
  'text',
  'thinking',
  'tool-started',
  'tool-ended',
  'files-changed',
  'retry-scheduled',
  'notice',
] as const;

/** One line of `squad run --json` and `squad resume --json`: API, checked by this schema. */
export const runEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('run-started'),
    ...base,
    name: z.string(),
    /** The run was there before: this is another segment of it. */
    resumed: z.boolean(),
    playbook: z.string(),
    /** Absent: the run makes none. */
    branch: z.string().optional(),
    base: z.string(),
    /** `equipment`: what the agent has from its settings besides these, in words. */
    agents: z.array(
      z.object({
        name: z.string(),
        role: z.string(),
        runtime: z.string(),
        model: z.string().optional(),
        equipment: z.array(z.string()).optional(),
      }),
    ),
  }),
  /** The definition of the run, once in its life; a resumed segment does not repeat it. */
  z.object({
    type: z.literal('run-defined'),
    ...base,
    name: z.string(),
    title: z.string(),
    playbook: z.string(),
    /** `account`: whose usage limit the agent shares. */
    agents: z.array(
      z.object({
        name: z.string(),
        role: z.string(),
        runtime: z.string(),
        model: z.string().optional(),
        account: z.string(),
      }),
    ),
    limits: limitsSchema,
    /** Epoch ms. */
    deadline: z.number().int().optional(),
  }),
  /** A person raised limits; all of them, as they are from now on. */
  z.object({ type: z.literal('limits-changed'), ...base, limits: limitsSchema }),
  z.object({
    type: z.literal('task-changed'),
    ...base,
    task: z.string(),
    title: z.string(),
    role: z.string(),
    status,
    round: z.number().int(),
    why: z.string().optional(),
    /** The item of a team's backlog, where its task is blocked. */
    item: z.string().optional(),
    /** It was cancelled before its first turn because this task, which it needs, was not done. */
    because: z.string().optional(),
  }),
  /**
   * Only of playbooks with stages. The first ones name every stage, in their order, and each later one is a stage that has changed.
   * `place` of `of`: which one it is. `change`: what is new; `agents` is who is at work in it, and what on.
   */
  z.object({
    type: z.literal('stage-changed'),
    ...base,
    stage: shownStageSchema,
    place: z.int().positive(),
    of: z.int().positive(),
    change: z.enum(['state', 'rounds', 'agents']),
  }),
  /** The task went back to its author. `verify`: it fails together with delivered work. */
  z.object({
    type: z.literal('task-returned'),
    ...base,
    task: z.string(),
    from: z.enum(['evidence', 'conflict', 'verify', 'playbook']),
    why: z.string(),
  }),
  z.object({
    type: z.literal('attempt-taken'),
    ...base,
    ...attempt,
    kind: z.enum(['turn', 'check']),
    runtime: z.string(),
    /** The runtime that it stands in for, which was at its limit or locked out. Absent: none. */
    insteadOf: z.string().optional(),
    how: z.enum(['started', 'started-again', 'attached']),
  }),
  z.object({
    type: z.literal('attempt-ended'),
    ...base,
    ...attempt,
    kind: z.enum(['turn', 'check']),
    outcome: z.enum(OUTCOMES),
    failure: failureSchema.optional(),
    durationMs: z.number().int(),
    usage: usageSchema.optional(),
  }),
  /** `until` (epoch ms): the moment that is waited for, where nothing else can move. */
  z.object({
    type: z.literal('decided'),
    ...base,
    next: z.string(),
    why: z.string(),
    /** Why it starts nothing; absent: for another reason. */
    because: decidedSchema.shape.because,
    until: z.number().int().optional(),
  }),
  z.object({
    type: z.literal('review-round'),
    ...base,
    task: z.string(),
    /** The review, of a task with several. Absent: it has one. */
    review: z.string().optional(),
    round: z.number().int(),
    commit: z.string(),
    approved: z.boolean(),
    /** It was rejected, but none of the findings counted any more, so it did not go back to its author. */
    overruled: z.literal(true).optional(),
    /** The roles without a verdict. Absent: all whose verdict was needed gave one. */
    silent: z.array(z.string()).optional(),
    feedback: z.string(),
  }),
  /** `agent` gave no verdict on the task, so `by` is asked. `role`: the one in which both are asked. */
  z.object({
    type: z.literal('judge-replaced'),
    ...base,
    task: z.string(),
    round: z.number().int(),
    role: z.string(),
    agent: z.string(),
    by: z.string(),
    why: z.string(),
  }),
  z.object({
    type: z.literal('question-asked'),
    ...base,
    question: z.string(),
    text: z.string(),
    options: z.array(z.string()),
    /** Tasks that wait for the answer; empty: the whole run does. */
    tasks: z.array(z.string()),
    /** The plan that the question asks about. Absent: it asks about none. */
    plan: askedPlanSchema.optional(),
  }),
  /** `answer`: a person's, or `withdrawn`. The first answer counts. */
  z.object({ type: z.literal('question-answered'), ...base, question: z.string(), answer: z.string() }),
  /** Whether new turns may start. `scope`: `run`, `agent/<name>` or `task/<id>`; `verb`: null if they may again. */
  z.object({
    type: z.literal('pause-changed'),
    ...base,
    scope: z.string(),
    verb: z.enum(['pause', 'drain', 'stop']).nullable(),
    by: z.string().optional(),
  }),
  /**
   * Whether an account can have turns. `until` (epoch ms): the reset of its usage limit. `why`: the reason of a lock-out. `standIn`: the
   * account that its agents use until then; absent: none.
   */
  z.object({
    type: z.literal('account-changed'),
    ...base,
    account: z.string(),
    state: z.enum(['works', 'limited', 'locked-out']),
    until: z.number().int().optional(),
    why: z.string().optional(),
    standIn: z.string().optional(),
  }),
  /** Whether a live turn gives the signs of work that are expected of it. `why`: what is missing, or what came. */
  z.object({
    type: z.literal('stall-changed'),
    ...base,
    ...attempt,
    state: z.enum(['stalled', 'works']),
    why: z.string(),
  }),
  /** squad checked the run branch before the run may end. `result`: what happens next. */
  z.object({
    type: z.literal('gate-checked'),
    ...base,
    /** The run branch's head; null: it is gone. */
    head: z.string().nullable(),
    passed: z.number().int(),
    failed: z.array(z.string()),
    /** Commands of criteria that cannot run, which stay unchecked. Absent: none. */
    cannotRun: z.array(z.string()).optional(),
    result: z.enum(['finished', 'judging', 'refused', 'void']),
  }),
  /** A person's hand: `on` is what it is about, as far as that is not the run. */
  z.object({
    type: z.literal('intervened'),
    ...base,
    verb: z.string(),
    by: z.string(),
    on: z.string().optional(),
    /** Absent: the command has no text. */
    text: z.string().optional(),
  }),
  /** Mail between members as it takes effect; `line`: in one line for people. */
  z.object({
    type: z.literal('mail'),
    ...base,
    from: z.string(),
    to: z.array(z.string()),
    kind: z.string(),
    action: z.string().optional(),
    task: z.string().optional(),
    line: z.string(),
  }),
  /** A recipient did not answer in time. */
  z.object({
    type: z.literal('mail-overdue'),
    ...base,
    message: z.string(),
    to: z.string(),
    action: z.string().optional(),
    /** The question in one line, as people see it. */
    line: z.string().optional(),
    /** It waits for a person. */
    person: z.literal(true).optional(),
  }),
  z.object({ type: z.literal('warning'), ...base, text: z.string() }),
  /** Where this engine sends spans of the run, and at its end what the endpoint got (`tracingEndSchema`). */
  z.object({
    type: z.literal('tracing'),
    ...base,
    state: z.enum(['begun', 'ended']),
    ...tracedPlaceSchema.shape,
    ...tracingEndSchema.partial().shape,
  }),
  ...TURN_EVENTS.map((type) => z.looseObject({ type: z.literal(type), ...base, ...attempt })),
  /** Always the last line. */
  z.object({
    type: z.literal('run-ended'),
    ...base,
    name: z.string(),
    outcome: z.enum(RUN_OUTCOMES),
    /** One line, the same in status and report. */
    headline: z.string(),
    why: z.string(),
    exitCode: z.number().int(),
    /** Absent: the run makes none. */
    branch: z.string().optional(),
    /** The run branch's head; absent while there is no branch. */
    head: z.string().optional(),
    /** The branch that squad pushed with the person's login; absent: it pushed nothing. */
    pushed: pushedSchema.optional(),
    report: z.string(),
    /** Why tasks were not delivered, and where their work is. */
    failures: z.array(taskFailureSchema),
    /** The reviews that rejected work for the last time, with what was said in each round. */
    rejections: z.array(rejectionSchema),
    /** Commands that failed on the commit that the run began from, and how they stand now, a line for each. Absent: none failed. */
    baseline: z.array(z.string()).optional(),
    /** Commands that continue from here, the most likely first. */
    next: z.array(z.string()),
    /** Open questions, when a person is waited for. */
    questions: z.array(askedQuestionSchema),
  }),
]);
export type RunEvent = z.infer<typeof runEventSchema>;

/** Events of a run have other types if no turn reported them. */
export function isTurnEvent<T extends { type: string }>(event: T): event is T & TurnEvent {
  return TURN_EVENTS.some((type) => type === event.type);
}

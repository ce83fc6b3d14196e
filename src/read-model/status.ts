import { PERMISSION_OPTIONS, type PermissionAsk } from './permission-ask.ts';
import { z } from 'zod';
import { armoryFactsOf, armoryFactsSchema } from '../model/armory-facts.ts';
import type { TaskState } from '../model/plan/board.ts';
import { TASK_STATUSES } from '../model/plan/task.ts';
import { authorAttempts, statusOf as taskStatusOf } from '../graph/decisions/work-status.ts';
import type { WorkPlace } from '../model/work-place.ts';
import { phaseOf, RUN_ENDS, RUN_PHASES } from '../model/run-state.ts';
import { limitsSchema } from '../model/limits.ts';
import { engineTime } from '../model/spending.ts';
import { currentStage, shownStageSchema } from '../model/shown-stage.ts';
import { rejectionSchema } from '../model/rejection.ts';
import { rejectionsOf } from './rejections.ts';
import { taskFailureSchema } from '../model/task-failure.ts';
import { comparedWithBaseline } from './baseline-text.ts';
import { capUseOf, capUseSchema } from './cap-use.ts';
import { checkerChangesOf, checksAtBase } from '../graph/decisions/checkers.ts';
import { criteriaOf } from '../graph/decisions/conclude.ts';
import type { Board } from '../model/plan/board.ts';
import { checkerChangeSchema } from '../model/plan/checker.ts';
import { criterionStatusSchema } from '../model/criterion-status.ts';
import { failuresOf, type KeptRef } from './explain-failure.ts';
import { answerCommand, nextCommandsOf } from './next-commands.ts';
import { predictBoard } from './replay-plan.ts';
import { standingOf, waitingForSchema } from './run-state.ts';
import { QUESTION_MS } from '../model/mail/times.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import type { MailStatus } from '../substrate/ports/mailbox.ts';
import { forkParentSchema, type RunHistory, type RunReading } from './read-run.ts';
import { stagesNow } from './stages.ts';
import { usageCountOf, usageCountSchema } from './usage-count.ts';

const count = z.int().nonnegative();

/** The mail in `squad status` that needs attention. Times are epoch ms. */
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

/** The output of `squad status --json`: API. Times are epoch ms. null means unknown, which is not zero. */
export const runStatusSchema = z.strictObject({
  runId: z.string(),
  name: z.string(),
  /** The run that this one is a fork of, and the event up to which their decisions are the same. null: it is no fork. */
  parent: forkParentSchema.nullable(),
  phase: z.enum(RUN_PHASES),
  /** null until the run has finished. */
  outcome: z.enum(RUN_ENDS).nullable(),
  /** The result in one line; null if the run is not over. */
  headline: z.string().nullable(),
  /** The exit code of the command that drove the run; null if the run is not over. */
  exitCode: z.int().nullable(),
  playbook: z.string(),
  /** The folder of the session that it plays; null: it plays none. */
  folder: z.string().nullable(),
  /** Why its files were not complete when the last engine ended; null: none is known to be missing, or an engine is running. */
  folderProblem: z.string().nullable(),
  /** Its title. */
  objective: z.string(),
  /** What each agent is bound to. */
  armory: z.array(armoryFactsSchema),
  /** Only for playbooks with stages: the live one, else the one that failed, else the next one, else the last one. */
  stage: z.string().optional(),
  /** Stages that have ended, in their order, without those that were cancelled. */
  stageHistory: z.array(z.string()).optional(),
  /** All of them, in their order. */
  stages: z.array(shownStageSchema).optional(),
  /**
   * Rounds of review that took place: by stage in a playbook with stages, else by task. Stages and tasks that no one reviews are
   * absent.
   */
  reviewRounds: z.record(z.string(), count),
  criteria: z.array(criterionStatusSchema),
  /** What the work changed of the files that check it, as the last check of the run branch found it. */
  checkers: z.array(checkerChangeSchema),
  /** The commands of the last check of the run branch, with those files as they were; empty: they did not run so. */
  checksAtBase: z.array(z.strictObject({ run: z.string(), passed: z.boolean() })),
  /** What failed on the commit that the run began from, and how it stands now, a line for each command. */
  baseline: z.array(z.string()),
  /** Files that a task had to create and that the engine found in delivered work. */
  artifacts: z.array(z.strictObject({ task: z.string(), path: z.string() })),
  tasks: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      role: z.string(),
      status: z.enum(TASK_STATUSES),
      round: count,
      /** The author's attempts; `reviewRounds` counts the reviews. */
      attempts: count,
    }),
  ),
  /** Tasks that failed or were cancelled: why, and where their work is. */
  failures: z.array(taskFailureSchema),
  /** The reviews that rejected work for the last time, with what was said in each round. */
  rejections: z.array(rejectionSchema),
  ...usageCountSchema,
  limits: limitsSchema,
  /** Limits on what may be used, with what is used of each. */
  caps: z.array(capUseSchema),
  /** Accounts at their usage limit. After `until` one turn starts alone and tests the limit (`probing`). */
  accounts: z.array(z.strictObject({ account: z.string(), until: z.int(), probing: z.boolean() })),
  startedAt: z.int(),
  /** Engine time over all segments. Suspended time does not count. */
  elapsedSeconds: count,
  maxSeconds: z.number().positive(),
  /** No turn starts after it (epoch ms); null: there is none. */
  deadline: z.int().nullable(),
  /** Who let turns start after the deadline; null: no one. */
  pastDeadline: z.string().nullable(),
  /** The operator's pauses: `scope` is `run`, `agent/<name>` or `task/<id>`. */
  held: z.array(
    z.strictObject({ scope: z.string(), verb: z.enum(['pause', 'drain', 'stop']), by: z.string(), at: z.int() }),
  ),
  /** The operator's switches to another runtime: `scope` is `agent/<name>` or `task/<id>`. */
  switched: z.array(z.strictObject({ scope: z.string(), runtime: z.string(), model: z.string().nullable() })),
  /** Why the run does not continue by itself, and for what it waits. */
  waitingFor: waitingForSchema.nullable(),
  /** Agents that wait in the middle of their turns until a person allows a tool. */
  asks: z.array(z.strictObject({ id: z.string(), agent: z.string(), text: z.string(), until: z.int() })),
  /** null: the run has no mailbox. */
  mail: mailReadingSchema.nullable(),
  /** null: it does not exist yet. */
  branch: z.string().nullable(),
  /** Commands that continue from here, the most likely first. */
  next: z.array(z.string()),
});
export type RunStatus = z.infer<typeof runStatusSchema>;

/** Derives the status. `reading`: the attempts of failed tasks are enough. `kept`: the refs that keep the run's attempts. */
export function statusOf(
  reading: RunHistory,
  mail: MailStatus | undefined,
  now: number,
  kept: readonly KeptRef[] = [],
  asks: readonly PermissionAsk[] = [],
  place?: WorkPlace,
): RunStatus {
  const { row, definition, board, totals, limits } = reading;
  const standing = standingOf(reading, now);
  const { state, conclusion, waitingFor } = standing;
  const failures = failuresOf(reading, kept);
  const predicted = predictBoard(board, reading.pendingRequests);
  const tasks = [...board.tasks.values()].toSorted((a, b) => a.order - b.order);
  return {
    runId: row.id,
    name: row.name,
    parent: reading.parent,
    phase: phaseOf(state),
    outcome: conclusion?.outcome ?? null,
    headline: conclusion?.headline ?? null,
    exitCode: conclusion?.exitCode ?? null,
    playbook: definition.playbook,
    ...{ folder: definition.folder ?? null, folderProblem: reading.folderProblem },
    objective: definition.objective.title,
    armory: definition.agents.map(armoryFactsOf),
    ...stagesOf(reading),
    reviewRounds: Object.fromEntries(roundsOf(reading, tasks)),
    ...checkedOf(board),
    artifacts: artifactsOf(reading),
    tasks: tasks.map((state) => ({
      id: state.task.id,
      title: state.task.title,
      role: state.task.role,
      status: taskStatusOf(state, board),
      round: state.work.round,
      attempts: authorAttempts(state.work),
    })),
    ...{ failures, rejections: rejectionsOf(board, row.id) },
    ...usageCountOf(totals),
    limits,
    caps: capUseOf(reading),
    accounts: [...board.accounts].map(([account, { until, probe }]) => ({ account, until, probing: probe !== null })),
    startedAt: row.createdAt,
    elapsedSeconds: Math.floor(engineTime(reading.segments) / 1000),
    maxSeconds: limits.minutes * 60,
    deadline: definition.objective.deadline ?? null,
    pastDeadline: predicted.pastDeadline,
    held: [...predicted.pauses].map(([scope, { verb, by, at }]) => ({ scope, verb, by, at })),
    switched: [...predicted.switches].map(([scope, { runtime, model: other }]) => ({ scope, runtime, model: other })),
    waitingFor,
    asks: asks.map(({ id, agent, text, until }) => ({ id, agent, text, until })),
    mail: mail === undefined ? null : mailReadingOf(mail, now),
    branch: (reading.published ?? reading.workspace)?.branch ?? null,
    next: [
      ...asks.map(({ id }) => answerCommand(id, PERMISSION_OPTIONS[0])),
      ...nextCommandsOf(reading, standing, failures, now, place),
    ],
  };
}

/** What was checked, and with what. */
function checkedOf(board: Board): Pick<RunStatus, 'criteria' | 'checkers' | 'checksAtBase' | 'baseline'> {
  return {
    criteria: criteriaOf(board),
    checkers: checkerChangesOf(board),
    checksAtBase: checksAtBase(board).map(({ run, passed }) => ({ run, passed })),
    baseline: comparedWithBaseline(board),
  };
}

function stagesOf(reading: RunReading): Pick<RunStatus, 'stage' | 'stageHistory' | 'stages'> {
  const { stages } = reading;
  const current = currentStage(stages);
  if (current === undefined) return {};
  const ended = stages.filter(({ state }) => !NOT_ENDED.has(state));
  return { stage: current.stage.id, stageHistory: ended.map(({ id }) => id), stages: [...stagesNow(reading)] };
}

const NOT_ENDED: ReadonlySet<string> = new Set(['waiting', 'live', 'cancelled']);

function roundsOf({ stages, board }: RunReading, tasks: readonly TaskState[]): [string, number][] {
  const taken = ({ work }: TaskState): number => work.rounds.filter(({ by }) => by.length > 0).length;
  if (stages.length === 0)
    return tasks.flatMap((one) => (one.task.review === undefined ? [] : [[one.task.id, taken(one)]]));
  return stages.flatMap(({ id, round, state, tasks: own }) => {
    if (round === undefined) return [];
    // A stage of work lists the tasks of all its passes, and its review those of the last one.
    const all = stages.filter((one) => one.tasks.some((task) => own.includes(task))).flatMap((one) => one.tasks);
    const reviewed = all.flatMap((task) => board.tasks.get(task) ?? []).filter(({ task }) => task.review !== undefined);
    // What judges for itself is in a round without a verdict while it is live.
    const judged = Math.max(0, round.taken - (state === 'live' ? 1 : 0));
    return [[id, reviewed.length === 0 ? judged : Math.max(...reviewed.map(taken))]];
  });
}

function artifactsOf({ board, evidence }: RunReading): RunStatus['artifacts'] {
  return [...board.tasks.values()].flatMap(({ task, work }) => {
    if (work.phase.at !== 'ended' || work.phase.as !== 'done') return [];
    const seen = evidence.get(task.id)?.files ?? [];
    return seen.map((path) => ({ task: task.id, path }));
  });
}

/** undefined: the run has no mailbox. */
export function mailOf({ mail }: Pick<Ledger, 'mail'>, runId: string): MailStatus | undefined {
  return mail.policy(runId) === undefined ? undefined : mail.status(runId);
}

function mailReadingOf({ members, unanswered, counts }: MailStatus, now: number): z.infer<typeof mailReadingSchema> {
  const oldest = members.flatMap(({ oldestUnread }) => (oldestUnread === null ? [] : [oldestUnread]));
  const overdue = unanswered.filter(
    ({ acceptedAt, answerDue }) =>
      (answerDue !== null && answerDue <= now) || (acceptedAt !== null && acceptedAt + QUESTION_MS <= now),
  );
  return {
    unread: counts.unread,
    oldestUnread: oldest.length === 0 ? null : Math.min(...oldest),
    unanswered: unanswered.length,
    overdue: overdue.length,
    dead: counts.dead,
    members: members.map(({ address, online, unread, oldestUnread }) => ({ address, online, unread, oldestUnread })),
  };
}

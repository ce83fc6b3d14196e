import { checkerChangesOf, checksAtBase } from '../rules/checkers.ts';
import { countTasks, criteriaOf, type Conclusion } from '../rules/conclude.ts';
import { reviewCountsOf } from '../rules/failed-reviews.ts';
import { reportedOf } from '../rules/reported.ts';
import { authorAttempts, shownStatusOf } from '../rules/work-status.ts';
import { armoryFactsOf } from '../model/armory-facts.ts';
import { QUESTION_MS } from '../model/mail/times.ts';
import type { AskedQuestion } from '../model/plan/asked-question.ts';
import type { TaskState } from '../model/plan/board.ts';
import type { Estimate } from '../model/plan/estimate.ts';
import { CHOICE } from '../model/plan/choice.ts';
import type { RepositoryView } from '../model/repositories.ts';
import { branchOf, pushedOf } from '../model/run.ts';
import { stageReached } from '../model/shown-stage.ts';
import { engineTime } from '../model/spending.ts';
import type { WorkPlace } from '../model/work-place.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import type { MailStatus } from '../substrate/ports/mailbox.ts';
import { defined } from '../text/defined.ts';
import { askedQuestion } from './asked-plan.ts';
import { comparedWithBaseline } from './baseline-text.ts';
import { capUseOf } from './cap-use.ts';
import { failuresOf, type KeptRef, rejectionsOf } from './explain-failure.ts';
import { afterEnd, againAfterEnd, answerCommand, continueCommands, otherWork } from './next-commands.ts';
import { PERMISSION_OPTIONS, type PermissionAsk } from './permission-ask.ts';
import type { RunHistory, RunReading } from './read-run.ts';
import { predictBoard } from './replay-plan.ts';
import { standingOf } from './run-state.ts';
import type { MailReading, RunView } from './run-view.ts';
import { stagesNow } from './stages.ts';
import { unfinishedOf } from './unfinished.ts';
import { allTasks, usageCountOf } from './usage-count.ts';

/** Used by a view besides the ledger's records of the run. */
export interface ViewFacts {
  readonly now: number;
  /** Absent: the run has no mailbox. */
  readonly mail?: MailStatus | undefined;
  /** The refs that keep the run's attempts. */
  readonly kept?: readonly KeptRef[] | undefined;
  /** Questions of agents in the middle of their turns. */
  readonly asks?: readonly PermissionAsk[];
  /** By earlier runs, of a run that asks about a plan. Absent: nothing was looked up. */
  readonly estimate?: Estimate | null | undefined;
  /** Where the work of a finished run is now. Absent: on its branch. */
  readonly place?: WorkPlace | undefined;
}

/** `reading`: the attempts of failed tasks are enough. */
export function viewOf(reading: RunHistory, { now, mail, kept = [], asks = [], place, estimate }: ViewFacts): RunView {
  const { row, definition, board, limits } = reading;
  const standing = standingOf(reading, now);
  const { state, conclusion, waitingFor } = standing;
  const failures = failuresOf(reading, kept);
  const { turns, usage } = usageCountOf(reading.totals);
  const open = conclusion === null ? reading.questions.filter(({ recorded }) => recorded === null) : [];
  const end = conclusion === null ? null : endIn(reading, conclusion, againAfterEnd(reading, failures));
  const asked = open.map((question) => askedQuestion(reading, question));
  const isForecast = estimate !== undefined && waitingFor?.for === 'answer';
  const { need, why } = unfinishedOf(reading, now) ?? {};
  return {
    version: 1,
    run: {
      ...{ runId: row.id, name: row.name, parent: reading.parent, playbook: definition.playbook },
      ...{ folder: definition.folder ?? null, written: [...reading.written] },
      ...{ objective: definition.objective.title, source: definition.source },
      ...defined({ from: definition.repository.from, sparse: definition.sparse }),
      ...(definition.repositories === undefined ? {} : { repositories: repositoriesIn(reading) }),
      prompts: { hash: definition.promptHash ?? null, changed: Object.keys(definition.prompts ?? {}) },
      armory: definition.agents.map(armoryFactsOf),
      startedAt: row.createdAt,
      deadline: definition.objective.deadline ?? null,
      branch: (reading.published ?? reading.workspace)?.branch ?? null,
      state,
      need: need === undefined || why === undefined ? null : { need, why },
      delivers: branchOf(definition) ?? null,
    },
    plan: { ...planOf(reading), failures, rejections: rejectionsOf(board, row.id) },
    stages: [...stagesNow(reading)],
    tasks: inOrder(reading).map((one) => ({
      id: one.task.id,
      title: one.task.title,
      role: one.task.role,
      status: shownStatusOf(one, board),
      round: one.work.round,
      attempts: authorAttempts(one.work),
    })),
    turns,
    use: { usage, limits, caps: capUseOf(reading), elapsedMs: engineTime(reading.segments) },
    questions: estimate === undefined ? asked : withEstimate(asked, estimate),
    waits: {
      waitingFor: isForecast ? { ...waitingFor, questions: withEstimate(waitingFor.questions, estimate) } : waitingFor,
      asks: asks.map(({ id, agent, text, until }) => ({ id, agent, text, until })),
    },
    mail: mail === undefined ? null : mailReadingOf(mail, now),
    next: [
      ...asks.map(({ id }) => answerCommand(id, PERMISSION_OPTIONS[0])),
      ...(end === null ? continueCommands(reading, standing, now) : afterEnd(row.name, end, place)),
      ...(board.records.has(CHOICE) ? otherWork(reading, kept) : []),
    ],
    end,
  };
}

/** Those that a run works on, that in which it was started first. */
export function repositoriesIn({ definition, published }: RunReading): RepositoryView[] {
  const { repository, repositories } = definition;
  const home = { name: '', role: '', root: repository.root, base: repositories?.home ?? repository.base };
  return [home, ...(repositories?.others ?? [])].map(({ name, role, root, base }) => {
    const got = published?.repositories?.find((one) => one.name === name);
    const head = got?.changed === true ? got.head : null;
    return { name, role, path: root, base, head, ...defined({ remote: got?.remote, pr: got?.pr }) };
  });
}

function withEstimate(questions: readonly AskedQuestion[], estimate: Estimate | null): AskedQuestion[] {
  return questions.map((one) => (one.plan === undefined ? one : { ...one, plan: { ...one.plan, estimate } }));
}

function planOf(reading: RunReading): Omit<RunView['plan'], 'failures' | 'rejections'> {
  const { board } = reading;
  const predicted = predictBoard(board, reading.pendingRequests);
  return {
    reviewRounds: Object.fromEntries(roundsOf(reading)),
    criteria: criteriaOf(board),
    checkers: checkerChangesOf(board),
    checksAtBase: checksAtBase(board).map(({ run, passed }) => ({ run, passed })),
    reported: reportedOf(board).map(({ task, assumed, notDone }) => ({
      task,
      assumed: [...assumed],
      notDone: [...notDone],
    })),
    baseline: comparedWithBaseline(board),
    artifacts: artifactsOf(reading),
    accounts: [...board.accounts].map(([account, { until, probe }]) => ({ account, until, probing: probe !== null })),
    pastDeadline: predicted.pastDeadline,
    held: [...predicted.pauses].map(([scope, { verb, by, at }]) => ({ scope, verb, by, at })),
    switched: [...predicted.switches].map(([scope, { runtime, model: other }]) => ({ scope, runtime, model: other })),
    ...(predicted.notes.length === 0 ? {} : { notes: [...predicted.notes] }),
    tasks: { ...countTasks(board), all: allTasks(board) },
    stage: stageReached(reading.stages) ?? null,
    reviews: reviewCountsOf(board),
    ...{ base: board.facts.base, delivered: board.branch.head },
  };
}

function endIn(reading: RunReading, conclusion: Conclusion, again: string[]): NonNullable<RunView['end']> {
  const { outcome, headline, why, exitCode } = conclusion;
  const { published, board } = reading;
  const head = published?.branch === undefined ? null : published.head;
  const hasWork = head !== null && board.branch.head !== board.facts.base;
  return {
    outcome,
    headline,
    why,
    exitCode,
    head,
    ...defined({ pushed: pushedOf(published) }),
    again,
    hasWork,
    made: published?.made !== undefined,
  };
}

function inOrder({ board }: RunReading): TaskState[] {
  return [...board.tasks.values()].toSorted((a, b) => a.order - b.order);
}

function roundsOf(reading: RunReading): [string, number][] {
  const { stages, board } = reading;
  const taken = ({ work }: TaskState): number => work.rounds.filter(({ by }) => by.length > 0).length;
  if (stages.length === 0)
    return inOrder(reading).flatMap((one) => (one.task.review === undefined ? [] : [[one.task.id, taken(one)]]));
  return stages.flatMap(({ id, round, state, tasks: own }) => {
    if (round === undefined) return [];
    // A stage of work lists the tasks of all its passes, and its review those of the last one.
    const all = stages.filter((one) => one.tasks.some((task) => own.includes(task))).flatMap((one) => one.tasks);
    const reviewed = all.flatMap((task) => board.tasks.get(task) ?? []).filter(({ task }) => task.review !== undefined);
    // While a judging stage is live, its current round has no verdict yet.
    const judged = Math.max(0, round.taken - (state === 'live' ? 1 : 0));
    return [[id, reviewed.length === 0 ? judged : Math.max(...reviewed.map(taken))]];
  });
}

function artifactsOf({ board, evidence }: RunReading): RunView['plan']['artifacts'] {
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

export function mailReadingOf({ members, unanswered, counts }: MailStatus, now: number): MailReading {
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

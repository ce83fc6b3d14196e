import { reviewOfRound, roundsOf } from '../model/plan/open-review.ts';
import { z } from 'zod';
import type { Board, TaskState } from '../model/plan/board.ts';
import type { ReviewCount } from '../model/rejection.ts';
import type { RoundRecord } from '../model/plan/round-record.ts';
import { fileName } from '../text/file-name.ts';
import { isRepeated } from './review.ts';

/** The file with all its rounds, in the run's folder. */
export function failureFileOf(stage: string): string {
  return `failures/${fileName(stage)}.md`;
}

/** A review with its rounds. */
export interface FailedReview {
  /** Its id in the run's list of stages; in a run without stages, the task's id. */
  readonly stage: string;
  /** The task that was rejected; null: a stage that judges the whole. */
  readonly task: string | null;
  /** Rejections that were allowed. */
  readonly cap: number;
  readonly rounds: readonly ReviewedRound[];
}

interface ReviewedRound extends Pick<RoundRecord, 'round' | 'approved' | 'by'> {
  /** null: all of the work as it was then. */
  readonly commit: string | null;
  /** Summary, findings and suggestions, as agents wrote them. */
  readonly text: string;
  /** It has the same findings as the round before. */
  readonly repeated: boolean;
}

const by = z.array(z.object({ role: z.string(), agent: z.string(), approved: z.boolean() }));
const finding = z.object({
  file: z.string().nullable(),
  line: z.number().nullable(),
  problem: z.string(),
  suggestion: z.string().nullable(),
});
/** A verdict of a stage that judges, as its playbook records it. */
const roundSchema = z.object({
  ...{ stage: z.string(), entry: z.string().optional(), round: z.int(), approved: z.boolean(), by },
  ...{ summary: z.string(), findings: z.array(finding), converging: z.boolean() },
});
type Round = z.infer<typeof roundSchema>;

/** The part of a run's options that this file reads. */
const stagesSchema = z.object({
  list: z.object({
    whenNotConverging: z.string().optional(),
    shows: z.string().optional(),
    stages: z.array(
      z.object({
        id: z.string(),
        review: z.union([z.object({ id: z.string() }), z.array(z.object({ id: z.string() }))]).optional(),
        judges: z.object({ rounds: z.int() }).optional(),
      }),
    ),
  }),
});
type Stages = z.infer<typeof stagesSchema>['list'];

const NO_STAGES: Stages = { stages: [] };

type BoardPart = Pick<Board, 'tasks' | 'records' | 'facts'>;

/** How often work was reviewed so far, for each stage of review. */
export function reviewCountsOf(board: BoardPart): ReviewCount[] {
  const list = stagesOf(board);
  const tasks = [...board.tasks.values()].flatMap((state): [string | null, number][] => {
    if (state.task.owner === 'engine') return [];
    const stage = list.stages.length === 0 ? null : reviewStageOf(state, board, list);
    const byReview = Map.groupBy(state.work.rounds, ({ review }) => review);
    return [...byReview].map(([id, rounds]) => [list.stages.length === 0 ? null : (id ?? stage), rounds.length]);
  });
  const given = judgeRounds(board);
  const judges = list.stages.map(({ id }) => [id, given.filter(({ stage }) => stage === id).length] as const);
  const counts = new Map<string | null, ReviewCount>();
  for (const [stage, rounds] of [...tasks, ...judges.filter(([, taken]) => taken > 0)]) {
    const before = counts.get(stage) ?? { stage, reviews: 0, rounds: 0 };
    counts.set(stage, { stage, reviews: before.reviews + 1, rounds: before.rounds + rounds });
  }
  return [...counts.values()];
}

/** The rounds of each stage that judges the whole. */
export function judgedStagesOf(board: BoardPart): FailedReview[] {
  const all = judgeRounds(board);
  return stagesOf(board).stages.flatMap(({ id, judges }) => {
    const rounds = all.filter(({ stage }) => stage === id).map(reviewedOf);
    return judges === undefined || rounds.length === 0 ? [] : [{ stage: id, task: null, cap: judges.rounds, rounds }];
  });
}

/** The reviews that rejected for the last time: of tasks in the order of the plan, then of stages that judge the whole. */
export function failedReviewsOf(board: BoardPart): FailedReview[] {
  const list = stagesOf(board);
  const tasks = [...board.tasks.values()].toSorted((a, b) => a.order - b.order);
  return [...tasks.flatMap((state) => ofTask(state, board, list)), ...ofJudges(board, list)];
}

function stagesOf({ facts }: Pick<Board, 'facts'>): Stages {
  const list = stagesSchema.safeParse(facts.options).data?.list ?? NO_STAGES;
  return list.shows === 'tasks' ? NO_STAGES : list;
}

function judgeRounds({ records }: Pick<Board, 'records'>): Round[] {
  const all = [...(records.get('stage-rounds')?.values() ?? [])].flatMap(
    (one) => roundSchema.safeParse(one).data ?? [],
  );
  // A verdict on one entry is no verdict on the whole.
  return all.filter(({ entry }) => entry === undefined);
}

/** The stage that reviews a task; without stages, the task's id. */
function reviewStageOf({ task }: TaskState, { records }: Pick<Board, 'records'>, { stages }: Stages): string {
  if (stages.length === 0) return task.id;
  const placed = z.object({ stage: z.string() }).safeParse(records.get('stage-tasks')?.get(task.id)).data?.stage;
  const reviews = [stages.find(({ id }) => id === placed)?.review ?? []].flat();
  return reviews[0]?.id ?? placed ?? task.id;
}

function ofTask(state: TaskState, board: BoardPart, list: Stages): FailedReview[] {
  const { task, work } = state;
  const { phase } = work;
  const last = work.rounds.at(-1);
  const policy = last === undefined ? task.review : reviewOfRound(task, last);
  if (phase.at !== 'ended' || phase.as !== 'failed' || policy === undefined) return [];
  if (phase.cause !== 'rejected' && phase.cause !== 'blocked') return [];
  const rounds = roundsOf(work.rounds, policy);
  const reviewed = rounds.map((round, index): ReviewedRound => {
    const repeated = !round.approved && isRepeated(round.findings, rounds.slice(0, index));
    const { round: number, commit, approved, by: reviewers, feedback: text } = round;
    return { round: number, commit, approved, by: reviewers, text, repeated };
  });
  const stage = policy.id ?? reviewStageOf(state, board, list);
  return [{ stage, task: task.id, cap: policy.rounds, rounds: reviewed }];
}

function ofJudges(board: BoardPart, { stages, whenNotConverging }: Stages): FailedReview[] {
  const all = judgeRounds(board);
  return stages.flatMap(({ id, judges }) => {
    const rounds = all.filter(({ stage }) => stage === id);
    const last = rounds.at(-1);
    if (judges === undefined || last === undefined || last.approved) return [];
    const stopped = !last.converging && whenNotConverging === 'stop';
    if (last.round < judges.rounds && !stopped) return [];
    return [{ stage: id, task: null, cap: judges.rounds, rounds: rounds.map(reviewedOf) }];
  });
}

function reviewedOf({ round, approved, by: judges, summary, findings, converging }: Round): ReviewedRound {
  const who = judges.map(({ role, agent, approved: yes }) => `${role} (${agent}): ${yes ? 'approved' : 'rejected'}`);
  const lines = findings.map(({ file, line, problem, suggestion }) => {
    const where = file === null ? '' : `${file}${line === null ? '' : `:${line}`}: `;
    return `- ${where}${problem}${suggestion === null ? '' : ` (suggestion: ${suggestion})`}`;
  });
  const text = [`${who.join(', ')}. ${summary}`, ...lines].join('\n');
  return { round, commit: null, approved, by: judges, text, repeated: !converging };
}

import { z } from 'zod';
import type { Board, TaskState } from '../../model/plan/board.ts';
import type { RoundRecord } from '../../model/plan/work.ts';
import { isRepeated } from './review.ts';

/** A review that rejected work for the last time. */
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
  /** What the reviewers said: summary, findings and suggestions. Comes from agents. */
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
  ...{ stage: z.string(), round: z.int(), approved: z.boolean(), by },
  ...{ summary: z.string(), findings: z.array(finding), converging: z.boolean() },
});
type Round = z.infer<typeof roundSchema>;

/** What counts here of the stages in a run's options. */
const stagesSchema = z.object({
  list: z.object({
    whenNotConverging: z.string().optional(),
    stages: z.array(
      z.object({
        id: z.string(),
        review: z.object({ id: z.string() }).optional(),
        judges: z.object({ rounds: z.int() }).optional(),
      }),
    ),
  }),
});
type Stages = z.infer<typeof stagesSchema>['list'];

const NO_STAGES: Stages = { stages: [] };

/** The reviews that rejected for the last time: of tasks in the order of the plan, then of stages that judge the whole. */
export function failedReviewsOf(board: Pick<Board, 'tasks' | 'records' | 'facts'>): FailedReview[] {
  const list = stagesSchema.safeParse(board.facts.options).data?.list ?? NO_STAGES;
  const tasks = [...board.tasks.values()].toSorted((a, b) => a.order - b.order);
  return [...tasks.flatMap((state) => ofTask(state, board, list)), ...ofJudges(board, list)];
}

function ofTask({ task, work }: TaskState, { records }: Pick<Board, 'records'>, list: Stages): FailedReview[] {
  const { phase, rounds } = work;
  if (phase.at !== 'ended' || phase.as !== 'failed' || phase.cause !== 'rejected' || task.review === undefined)
    return [];
  const placed = z.object({ stage: z.string() }).safeParse(records.get('stage-tasks')?.get(task.id)).data?.stage;
  const stage = list.stages.find(({ id }) => id === placed)?.review?.id ?? placed ?? task.id;
  const reviewed = rounds.map((round, index): ReviewedRound => {
    const repeated = !round.approved && isRepeated(round.findings, rounds.slice(0, index));
    return { round: round.round, approved: round.approved, by: round.by, text: round.feedback, repeated };
  });
  return [{ stage, task: task.id, cap: task.review.rounds, rounds: reviewed }];
}

function ofJudges({ records }: Pick<Board, 'records'>, { stages, whenNotConverging }: Stages): FailedReview[] {
  const all = [...(records.get('stage-rounds')?.values() ?? [])].flatMap(
    (one) => roundSchema.safeParse(one).data ?? [],
  );
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
    return `- ${where}${problem}${suggestion === null ? '' : ` Suggestion: ${suggestion}`}`;
  });
  const text = [`${who.join(', ')}. ${summary}`, ...lines].join('\n');
  return { round, approved, by: judges, text, repeated: !converging };
}

import { reviewOfRound } from '../model/plan/open-review.ts';
import { z } from 'zod';
import type { Board, TaskState } from '../model/plan/board.ts';

type BoardPart = Pick<Board, 'tasks' | 'records'>;

/** Who gave no verdict on work that was approved, so that it was approved with fewer votes. */
export interface FewerVotes {
  /** The task that was reviewed, or the stage that judges. */
  readonly of: string;
  readonly roles: readonly string[];
  /** One approval was enough, so nothing is missing. */
  readonly isEnough: boolean;
}

/** Who was asked in place of a judge without a verdict, a line for each. */
export function replacedJudges({ tasks }: Pick<Board, 'tasks'>): string[] {
  return [...tasks.values()].flatMap(({ task, work }) =>
    (work.replaced ?? []).map(
      ({ agent, by }) => `${by} was asked about ${task.id} in place of ${agent}, who gave no verdict`,
    ),
  );
}

export function fewerVotes(board: BoardPart): FewerVotes[] {
  return [...[...board.tasks.values()].flatMap(reviewedBy), ...judgedBy(board)];
}

/** A part of the closing word for each. */
export function fewerVotesText({ of, roles }: FewerVotes): string {
  return `${of} was approved without a verdict of ${roles.join(', ')}`;
}

function reviewedBy({ task, work: { phase, rounds } }: TaskState): FewerVotes[] {
  const last = rounds.at(-1);
  if (phase.at !== 'ended' || phase.as !== 'done' || last?.approved !== true) return [];
  const final = rounds.filter(({ approved, commit }) => approved && commit === last.commit);
  return (last.review === undefined ? [last] : final).flatMap((round) => {
    const roles = (round.silent ?? []).map(({ role }) => role);
    return roles.length === 0 ? [] : [{ of: task.id, roles, isEnough: reviewOfRound(task, round)?.quorum === 'any' }];
  });
}

const placeSchema = z.object({ stage: z.string(), pass: z.number(), as: z.literal('judge'), role: z.string() });
const roundSchema = z.object({ stage: z.string(), pass: z.number(), approved: z.literal(true) });

/** The rounds of stages that judge, where the task of a judge failed and the others approved. */
function judgedBy(board: BoardPart): FewerVotes[] {
  const missing = [...silentTasks(board).values()];
  return [...Map.groupBy(missing, ({ stage }) => stage)].map(([of, places]) => {
    return { of, roles: places.map(({ role }) => role), isEnough: false };
  });
}

/** The failed tasks of judges in rounds that were approved without them, by id. A later pass of the stage replaces a round. */
export function silentTasks({ tasks, records }: BoardPart): ReadonlyMap<string, z.infer<typeof placeSchema>> {
  const approved = [...(records.get('stage-rounds')?.values() ?? [])].flatMap(
    (one) => roundSchema.safeParse(one).data ?? [],
  );
  const last = new Map(approved.map(({ stage, pass }) => [stage, pass]));
  return new Map(
    [...(records.get('stage-tasks') ?? [])].flatMap(([id, value]) => {
      const place = placeSchema.safeParse(value).data;
      const phase = tasks.get(id)?.work.phase;
      const isBad = phase?.at === 'ended' && (phase.as === 'failed' || phase.as === 'cancelled');
      return place !== undefined && isBad && last.get(place.stage) === place.pass ? [[id, place] as const] : [];
    }),
  );
}

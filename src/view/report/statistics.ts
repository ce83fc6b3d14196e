import { z } from 'zod';
import { sumUsd } from '../../model/money.ts';
import { hasEnded } from '../../model/run-state.ts';
import { medianOf } from '../../text/quantile.ts';
import type { RunFigures } from '../run-summary.ts';

const count = z.int().nonnegative();
const share = z.number().min(0).max(1);
/** null: there is no data. */
const met = z.boolean().nullable();

/** The output of `squad report --all --json`: API. null means that there is no data, or that it is unknown, which is not zero. */
export const statisticsSchema = z.strictObject({
  type: z.literal('statistics'),
  /** `open`: not over. */
  runs: z.strictObject({ all: count, done: count, failed: count, open: count }),
  /** Runs that ended as done, of those that ended. */
  completion: z.strictObject({
    ...{ done: count, ended: count, rate: share.nullable(), atLeast: z.number(), met },
    byPlaybook: z.array(z.strictObject({ playbook: z.string(), done: count, ended: count, rate: share.nullable() })),
  }),
  /**
   * Counts only runs that ended as done, from start to end by the clock. `averageEngineMs`: the time that an engine
   * worked.
   */
  time: z.strictObject({
    runs: count,
    averageMs: z.number().nonnegative().nullable(),
    medianMs: z.number().nonnegative().nullable(),
    averageEngineMs: z.number().nonnegative().nullable(),
    belowMs: z.number(),
    met,
  }),
  /** Rounds for each piece of work that was reviewed. */
  reviews: z.strictObject({
    ...{ reviews: count, rounds: count, average: z.number().nullable(), below: z.number(), met },
    /** `stage`: null in a playbook without stages. */
    byStage: z.array(
      z.strictObject({
        ...{ playbook: z.string(), stage: z.string().nullable() },
        ...{ reviews: count, rounds: count, average: z.number().nullable() },
      }),
    ),
  }),
  /** Runs that were killed or interrupted, and those of them that were resumed to their end. */
  recovery: z.strictObject({ interrupted: count, recovered: count, rate: share.nullable(), atLeast: z.number(), met }),
  /** Counts all runs. Tokens and cost are sums over the turns for which they are known. */
  use: z.strictObject({
    turns: count,
    settledTurns: count,
    inputTokens: count.nullable(),
    outputTokens: count.nullable(),
    unknownTurns: count,
    costUsd: z.number().nonnegative().nullable(),
    unknownCostTurns: count,
  }),
});
export type Statistics = z.infer<typeof statisticsSchema>;

const TARGETS = { completion: 0.7, timeMs: 4 * 3_600_000, rounds: 2.5, recovery: 1 } as const;

/** Compares the runs of a workspace with the project's targets. Pure. */
export function statisticsOf(runs: readonly RunFigures[]): Statistics {
  const ended = runs.filter(({ state }) => hasEnded(state));
  const done = ended.filter(({ state }) => state === 'done');
  return {
    type: 'statistics',
    runs: { all: runs.length, done: done.length, failed: ended.length - done.length, open: runs.length - ended.length },
    completion: completionOf(ended),
    time: timeOf(done),
    reviews: reviewsOf(runs),
    recovery: recoveryOf(runs),
    use: useOf(runs),
  };
}

function completionOf(ended: readonly RunFigures[]): Statistics['completion'] {
  const rateOf = (runs: readonly RunFigures[]) => {
    const done = runs.filter(({ state }) => state === 'done').length;
    return { done, ended: runs.length, rate: ratio(done, runs.length) };
  };
  const all = rateOf(ended);
  const byPlaybook = namesOf(ended).map((playbook) => ({
    playbook,
    ...rateOf(ended.filter((run) => run.playbook === playbook)),
  }));
  return {
    ...all,
    atLeast: TARGETS.completion,
    met: isMet(all.rate, (rate) => rate >= TARGETS.completion),
    byPlaybook,
  };
}

function timeOf(done: readonly RunFigures[]): Statistics['time'] {
  const timed = done.flatMap(({ wallMs, elapsedMs }) => (wallMs === null ? [] : [{ wallMs, elapsedMs }]));
  const averageMs = ratio(sum(timed.map(({ wallMs }) => wallMs)), timed.length);
  return {
    runs: timed.length,
    averageMs,
    medianMs: medianOf(timed.map(({ wallMs }) => wallMs)),
    averageEngineMs: ratio(sum(timed.map(({ elapsedMs }) => elapsedMs)), timed.length),
    belowMs: TARGETS.timeMs,
    met: isMet(averageMs, (ms) => ms < TARGETS.timeMs),
  };
}

function reviewsOf(runs: readonly RunFigures[]): Statistics['reviews'] {
  const given = runs.flatMap(({ playbook, reviews }) => reviews.map((review) => ({ playbook, ...review })));
  const averageOf = (of: typeof given) => {
    const reviews = sum(of.map((one) => one.reviews));
    const rounds = sum(of.map((one) => one.rounds));
    return { reviews, rounds, average: ratio(rounds, reviews) };
  };
  const all = averageOf(given);
  const byStage = namesOf(given).flatMap((playbook) => {
    const own = given.filter((one) => one.playbook === playbook);
    const stages = [...new Set(own.map(({ stage }) => stage))];
    return stages.map((stage) => ({ playbook, stage, ...averageOf(own.filter((one) => one.stage === stage)) }));
  });
  return { ...all, below: TARGETS.rounds, met: isMet(all.average, (rounds) => rounds < TARGETS.rounds), byStage };
}

function recoveryOf(runs: readonly RunFigures[]): Statistics['recovery'] {
  const interrupted = runs.filter((run) => run.interrupted);
  const recovered = interrupted.filter(({ state }) => hasEnded(state)).length;
  const rate = ratio(recovered, interrupted.length);
  const isReached = isMet(rate, (of) => of >= TARGETS.recovery);
  return { interrupted: interrupted.length, recovered, rate, atLeast: TARGETS.recovery, met: isReached };
}

function useOf(runs: readonly RunFigures[]): Statistics['use'] {
  const used = runs.filter(({ turns }) => turns.settled > 0);
  const known = (of: 'inputTokens' | 'outputTokens' | 'costUsd', add: typeof sum = sum): number | null => {
    const amounts = used.flatMap(({ usage }) => usage[of] ?? []);
    return amounts.length === 0 ? null : add(amounts);
  };
  return {
    turns: sum(runs.map(({ turns }) => turns.started)),
    settledTurns: sum(used.map(({ turns }) => turns.settled)),
    inputTokens: known('inputTokens'),
    outputTokens: known('outputTokens'),
    unknownTurns: sum(used.map(({ usage }) => usage.unknownTurns)),
    costUsd: known('costUsd', sumUsd),
    unknownCostTurns: sum(used.map(({ usage }) => usage.unknownCostTurns)),
  };
}

function namesOf(of: readonly { readonly playbook: string }[]): string[] {
  return [...new Set(of.map(({ playbook }) => playbook))].toSorted();
}

function isMet(value: number | null, holds: (value: number) => boolean): boolean | null {
  return value === null ? null : holds(value);
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

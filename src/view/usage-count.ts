import { tasksToCome } from '../playbooks/stages/stage-views.ts';
import { z } from 'zod';
import { isEnded } from '../rules/work-status.ts';
import type { Board } from '../model/plan/board.ts';
import { sumUsd } from '../model/money.ts';
import type { Totals } from '../substrate/ports/ledger.ts';
import type { AttemptReading } from './read-run.ts';

const count = z.int().nonnegative();

/** The usage of turns, counted the same way on the board, `squad status` and the report. */
export const usageCountSchema = {
  turns: z.strictObject({ started: count, settled: count, lost: count, live: count }),
  /** Known usage of settled turns; null if there are settled turns and none has known usage. */
  usage: z.strictObject({
    inputTokens: count.nullable(),
    outputTokens: count.nullable(),
    costUsd: z.number().nonnegative().nullable(),
    /** Settled turns with unknown tokens, which the sums above leave out. */
    unknownTurns: count,
    /** Settled turns with unknown cost. */
    unknownCostTurns: count,
  }),
};
export interface UsageCount {
  readonly turns: z.infer<typeof usageCountSchema.turns>;
  readonly usage: z.infer<typeof usageCountSchema.usage>;
}

export function usageCountOf(totals: Totals): UsageCount {
  const { turnsSettled, unknownUsage, unknownCost } = totals;
  const tokens = turnsSettled === 0 || unknownUsage < turnsSettled;
  const cost = turnsSettled === 0 || unknownCost < turnsSettled;
  const { turnsClaimed: started, turnsLost: lost, turnsLive: live } = totals;
  return {
    turns: { started, settled: turnsSettled, lost, live },
    usage: {
      inputTokens: tokens ? totals.inputTokens : null,
      outputTokens: tokens ? totals.outputTokens : null,
      costUsd: cost ? totals.costUsd : null,
      unknownTurns: unknownUsage,
      unknownCostTurns: unknownCost,
    },
  };
}

/** The totals of some turns of a run. Like the ledger, it does not count a turn whose agent never ran. */
export function totalsOf(turns: readonly AttemptReading[]): Totals {
  const ran = turns.filter(isTurn);
  const settled = ran.filter(({ settlement }) => settlement !== undefined);
  const usage = settled.map(({ settlement }) => settlement?.result.usage);
  const sum = (of: 'inputTokens' | 'cachedInputTokens' | 'outputTokens'): number =>
    usage.reduce((total, one) => total + (one?.[of] ?? 0), 0);
  return {
    turnsClaimed: ran.length,
    turnsSettled: settled.length,
    turnsLost: settled.filter(({ settlement }) => settlement?.result.failure?.kind === 'lost').length,
    turnsLive: ran.length - settled.length,
    inputTokens: sum('inputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    outputTokens: sum('outputTokens'),
    costUsd: sumUsd(usage.map((one) => one?.costUsd ?? 0)),
    unknownUsage: usage.filter((one) => one === undefined).length,
    unknownCost: usage.filter((one) => one?.costUsd === undefined).length,
  };
}

export function isTurn({ attempt, settlement }: AttemptReading): boolean {
  return attempt.kind === 'turn' && settlement?.result.failure?.kind !== 'never-started';
}

/** The progress of a run over all its segments, as `squad status` counts it. */
export interface RunProgress extends UsageCount {
  readonly tasks: { readonly all: number; readonly ended: number };
  /** Engine time, without suspended time. */
  readonly elapsedMs: number;
}

type Planned = Pick<Board, 'tasks' | 'records' | 'facts'>;

export function progressOf(board: Planned, totals: Totals, elapsedMs: number): RunProgress {
  const open = board.tasks.open.filter((state) => !isEnded(state)).length;
  return { tasks: { all: allTasks(board), ended: board.tasks.size - open }, elapsedMs, ...usageCountOf(totals) };
}

/** The total that people see everywhere: the tasks of the plan, and those that it does not have yet where they are known. */
export function allTasks(board: Planned): number {
  return board.tasks.size + tasksToCome(board);
}

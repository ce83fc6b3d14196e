import { LIMITS_RECORD, readLimits, type LimitsInForce } from '../../model/shared-limits.ts';
import { passedShared, sharedCapText } from '../../model/shared-spending.ts';
import { usdOf } from '../../model/money.ts';
import { dayOf, isIn, type Day } from '../../text/day.ts';
import type { Queries } from './query.ts';

const STEPS = `SELECT seq, data -> 'value' AS value FROM event
  WHERE type = 'record-written' AND data ->> 'kind' = '${LIMITS_RECORD.kind}' AND data ->> 'id' = '${LIMITS_RECORD.id}' ORDER BY seq`;
const TURNS = `SELECT id, run_id AS run, claim_seq AS seq, claimed_at AS at, settlement.seq AS ended,
    failure IS 'never-started' AS idle, cost_micro_usd AS micros
  FROM attempt LEFT JOIN settlement ON settlement.attempt_id = id LEFT JOIN usage ON usage.attempt_id = id
  WHERE kind = 'turn' ORDER BY claim_seq`;

interface Turn {
  readonly id: string;
  readonly run: string;
  readonly seq: number;
  readonly at: number;
  readonly ended: number | null;
  readonly idle: number;
  readonly micros: number | null;
}

/**
 * Turns that were claimed although the limits of a day were reached, by known costs alone. Turns at once are not checked: no record says
 * which of the turns that had not ended belonged to an engine that was gone.
 */
export function claimsPastShared(ledger: Pick<Queries, 'all'>): string[] {
  const steps = ledger.all<{ seq: number; value: string }>(STEPS).flatMap(({ seq, value }) => {
    const limits = readLimits(JSON.parse(value));
    return limits === undefined ? [] : [{ seq, limits }];
  });
  if (steps.length === 0) return [];
  const begun = new Map<string, number>();
  const days: CountedDay[] = [];
  const turns: Turn[] = [];
  return ledger.all<Turn>(TURNS).flatMap((turn) => {
    const limits = steps.findLast(({ seq }) => seq < turn.seq)?.limits;
    const wrong = limits && passedAt(turn, limits, countedDay(days, turns, turn.at, limits.timezone), begun);
    turns.push(turn);
    for (const day of days) if (isIn(day, turn.at)) day.turns.push(turn);
    if (!begun.has(turn.run)) begun.set(turn.run, turn.at);
    return wrong === undefined ? [] : [`attempt ${turn.id} was claimed with ${wrong}`];
  });
}

/** A day with the turns that were claimed on it, so far. */
interface CountedDay extends Day {
  readonly zone: string;
  readonly turns: Turn[];
}

function countedDay(days: CountedDay[], before: readonly Turn[], at: number, zone: string): CountedDay {
  const known = days.find((one) => one.zone === zone && isIn(one, at));
  if (known !== undefined) return known;
  const day = dayOf(at, zone);
  const counted = { ...day, zone, turns: before.filter((turn) => isIn(day, turn.at)) };
  days.push(counted);
  return counted;
}

function passedAt(
  turn: Turn,
  { timezone, limits }: LimitsInForce,
  day: CountedDay,
  begun: ReadonlyMap<string, number>,
): string | undefined {
  const ended = day.turns.filter((one) => one.ended !== null && one.ended < turn.seq);
  const use = {
    ...{ timezone, limits, day, unknownCost: 0, live: new Map<string, number>(), limited: new Map<string, number>() },
    usd: usdOf(ended.reduce((sum, { micros }) => sum + (micros ?? 0), 0)),
    turns: day.turns.length - ended.filter(({ idle }) => idle === 1).length,
    runs: [...begun.values()].filter((at) => isIn(day, at)).length,
    hasBegun: (runId: string) => begun.has(runId),
  };
  const passed = passedShared(use, turn.run);
  return passed && sharedCapText(passed);
}

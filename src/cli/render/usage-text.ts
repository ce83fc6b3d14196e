import { moneyText } from '../../model/amount.ts';
import type { RunStatus } from '../../read-model/status.ts';

/** The known cost, and the number of turns whose cost is unknown. */
export function costText({ costUsd, unknownCostTurns }: RunStatus['usage']): string {
  if (costUsd === null) return 'cost unknown';
  const unknown = unknownCostTurns === 1 ? '1 turn unknown' : `${unknownCostTurns} turns unknown`;
  return unknownCostTurns === 0 ? moneyText(costUsd) : `${moneyText(costUsd)} (${unknown})`;
}

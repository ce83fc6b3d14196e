import { moneyText } from '../../model/amount.ts';
import type { RunStatus } from '../../report/status.ts';

/** What is known of the cost, and of how many turns it is not. */
export function costText({ costUsd, unknownCostTurns }: RunStatus['usage']): string {
  if (costUsd === null) return 'cost unknown';
  const unknown = unknownCostTurns === 1 ? '1 turn unknown' : `${unknownCostTurns} turns unknown`;
  return unknownCostTurns === 0 ? moneyText(costUsd) : `${moneyText(costUsd)} (${unknown})`;
}

/** A number that needs more decimals than this is shown in full. */
const MOST_DECIMALS = 8;
/** Decimals of an amount below one, such as the cost of many turns. A smaller amount keeps two digits that are not zero. */
const SMALL_DECIMALS = 4;

/** `USD 12.35`, `USD 0.0074`: a cost, in the same form everywhere. */
export function moneyText(usd: number): string {
  return `USD ${moneyDigits(usd)}`;
}

/** The known cost, and the number of turns whose cost is unknown. */
export function costText({ costUsd, unknownCostTurns }: { costUsd: number | null; unknownCostTurns: number }): string {
  if (costUsd === null) return 'cost unknown';
  const unknown = unknownCostTurns === 1 ? '1 turn unknown' : `${unknownCostTurns} turns unknown`;
  return unknownCostTurns === 0 ? moneyText(costUsd) : `${moneyText(costUsd)} (${unknown})`;
}

/** `0.0074 of 0.01`: rounding never makes an amount look like zero or moves it across its limit. `used`: null if it is unknown. */
export function useText({ cap, used, most }: { cap: string; used: number | null; most: number }): string {
  const digits = cap === 'usd' ? moneyDigits : (amount: number): string => String(Number(digitsOf(amount, most)));
  return `${used === null ? 'unknown' : digits(used, most)} of ${cap === 'usd' ? inFull(most) : most}`;
}

function moneyDigits(usd: number, limit?: number): string {
  return digitsOf(usd, limit).replace(/(\.\d\d\d*?)0+$/, '$1');
}

/** Limits are not rounded, because people chose them. */
function inFull(usd: number): string {
  const text = String(usd);
  return /\.\d\d|e/.test(text) ? text : usd.toFixed(2);
}

function digitsOf(value: number, limit: number | undefined): string {
  for (let decimals = leastDecimals(value); decimals <= MOST_DECIMALS; decimals += 1) {
    const text = value.toFixed(decimals);
    const shown = Number(text);
    const isSameSide = limit === undefined || shown >= limit === value >= limit;
    if (isSameSide && (shown > 0 || value <= 0)) return text;
  }
  return String(value);
}

function leastDecimals(value: number): number {
  if (value <= 0 || value >= 1) return 2;
  return Math.min(MOST_DECIMALS, Math.max(SMALL_DECIMALS, 1 - Math.floor(Math.log10(value))));
}

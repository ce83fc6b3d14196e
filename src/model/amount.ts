/** Beyond this many decimals a number is given in full. */
const MOST_DECIMALS = 8;
/** Of an amount below one, which is many turns’ cost; a smaller one has two digits that are not zero. */
const SMALL_DECIMALS = 4;

/** `USD 12.35`, `USD 0.0074`: what something cost, in the same form wherever it is shown. */
export function moneyText(usd: number): string {
  return `USD ${moneyDigits(usd)}`;
}

/** `0.0074 of 0.01`: an amount never seems to be zero, or on the other side of its limit, by being rounded. */
export function useText({ cap, used, most }: { cap: string; used: number; most: number }): string {
  if (cap === 'usd') return `${moneyDigits(used, most)} of ${inFull(most)}`;
  return `${Number(digitsOf(used, most))} of ${most}`;
}

function moneyDigits(usd: number, limit?: number): string {
  return digitsOf(usd, limit).replace(/(\.\d\d\d*?)0+$/, '$1');
}

/** A limit is somebody's own figure. */
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

import { spanText } from '../text/duration.ts';

/** A number that needs more decimals than this is shown in full. */
const MOST_DECIMALS = 8;
/** Decimals of an amount below one, such as the cost of many turns. A smaller amount keeps two digits that are not zero. */
const SMALL_DECIMALS = 4;

/** `USD 12.35`, `USD 0.0074`: a cost, in the same form everywhere. */
export function moneyText(usd: number): string {
  return `USD ${moneyDigits(usd)}`;
}

/** `USD 1.12`; `USD 1.12+` if there are turns whose cost is unknown; `cost unknown` if there is nothing else. */
export function costText({ costUsd, unknownCostTurns }: { costUsd: number | null; unknownCostTurns: number }): string {
  return costUsd === null ? 'cost unknown' : `${moneyText(costUsd)}${unknownCostTurns === 0 ? '' : '+'}`;
}

/** `950 tokens`, `12.3k tokens`, `4.56M+ tokens`, `tokens unknown`: as `costText`. */
export function tokensUsedText(tokens: number | null, unknownTurns: number): string {
  return tokens === null ? 'tokens unknown' : `${atLeastText(tokens, unknownTurns)} tokens`;
}

/** `12.3k`; `12.3k+` if there are turns that did not tell. */
export function atLeastText(count: number, unknownTurns: number): string {
  return `${countText(count)}${unknownTurns === 0 ? '' : '+'}`;
}

/** `950`, `12.3k`, `4.56M`. Rounded down: a limit is not shown as reached before it is. */
function countText(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${threeDigits(count / 1_000)}k`;
  return `${threeDigits(count / 1_000_000)}M`;
}

function threeDigits(value: number): string {
  const scale = 10 ** (value < 10 ? 2 : value < 100 ? 1 : 0);
  return String(Math.floor(value * scale) / scale);
}

/** An amount that counts against a limit. */
export interface AmountUsed {
  readonly cap: 'usd' | 'turns' | 'tokens' | 'minutes';
  /** null: it is unknown. */
  readonly used: number | null;
  readonly most: number;
  /** There is more that is unknown. */
  readonly isLeast?: boolean;
}

/** `USD 0.0074 of 0.01`, `3 of 10 turns`, `9s of 8h00m`: rounding never makes it look like zero, or moves it across its limit. */
export function useText({ cap, used, most, isLeast = false }: AmountUsed): string {
  const more = isLeast && used !== null ? '+' : '';
  switch (cap) {
    case 'usd':
      return `USD ${used === null ? 'unknown' : moneyDigits(used, most)}${more} of ${inFull(most)}`;
    case 'turns':
      return `${used ?? 'unknown'}${more} of ${most} turns`;
    case 'tokens':
      return `${pairText(used, most, countText, String).join(`${more} of `)} tokens`;
    case 'minutes':
      return pairText(used, most, minutesText, (minutes) => `${inMinutes(minutes, most)} min`).join(`${more} of `);
    default:
      return cap satisfies never;
  }
}

/** In full where the short form, which rounds down, would change the limit, which people chose, or show an amount as nothing. */
function pairText(
  used: number | null,
  most: number,
  short: (amount: number) => string,
  full: (amount: number) => string,
): [used: string, most: string] {
  const isExact = short(most * (1 - 1e-12)) !== short(most);
  const isNothing = used !== null && used > 0 && short(used) === short(0);
  const form = isExact && !isNothing ? short : full;
  return [used === null ? 'unknown' : form(used), form(most)];
}

function minutesText(minutes: number): string {
  return spanText(minutes * 60_000);
}

function inMinutes(minutes: number, most: number): number {
  return minutes === most ? most : Number(digitsOf(minutes, most));
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

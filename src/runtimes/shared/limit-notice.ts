import { defined } from '../../text/defined.ts';
import type { FailureKind } from '../../model/failure.ts';
import { parseRetryAt } from '../../text/retry-at.ts';

/** A longer text is an answer, even if it quotes a notice. */
const MAX_NOTICE = 400;

export interface LimitNotice {
  readonly kind: Extract<FailureKind, 'quota-exhausted' | 'rate-limited' | 'overloaded' | 'billing'>;
  readonly message: string;
  /** Epoch ms, where the notice names a reset. */
  readonly retryAt?: number;
}

/**
 * A CLI may print a limit instead of an answer and call that success. Every sentence must belong to such a notice, so an answer that quotes
 * one stays an answer. undefined: the text is no notice. `now` in epoch ms.
 */
export function limitNotice(text: string, now: number): LimitNotice | undefined {
  const message = text.trim();
  if (message === '' || message.length > MAX_NOTICE) return undefined;
  const kind = kindOfBody(message) ?? kindOfSentences(message);
  if (kind === undefined) return undefined;
  return defined({ kind, message, retryAt: parseRetryAt(message, now) });
}

/** `API Error: 529 {"type":"error",…}`: claude prints API errors that it does not know like this. */
function kindOfBody(message: string): LimitNotice['kind'] | undefined {
  const status = /^API Error: (\d{3}) \{.*\}$/s.exec(message)?.[1];
  return status === '429' ? 'rate-limited' : status === '529' || status === '503' ? 'overloaded' : undefined;
}

function kindOfSentences(message: string): LimitNotice['kind'] | undefined {
  const [first = '', ...others] = message
    .replace(/^(?:error|API Error): /i, '')
    .split(/\s*[·•∙|\n]\s*|[.!] +|\.$/)
    .filter((sentence) => sentence !== '');
  const kind = OPENINGS.find(([pattern]) => pattern.test(first))?.[1];
  return others.every((sentence) => FURTHER.test(sentence) || isReset(sentence)) ? kind : undefined;
}

const LIMITED =
  '(?:(?:usage|session|daily|weekly|hourly|monthly|5-hour|five-hour|opus|sonnet|haiku|model|plan|account|individual|team|spend|spending|message|token|claude|codex|ai) ){0,4}';

/** Whole first sentences of notices, as the CLIs write them. The first match counts: a rate limit is also a limit. */
const OPENINGS: readonly (readonly [RegExp, LimitNotice['kind']])[] = [
  [
    /^(?:you(?:['’]ve| have) (?:hit|reached|exceeded) your )?(?:rate limit|rate limit (?:reached|exceeded))$/i,
    'rate-limited',
  ],
  [/^(?:Request rejected \(429\)|(?:429 )?Too many requests)$/i, 'rate-limited'],
  [/^exceeded retry limit, last status: 429 Too Many Requests(?:, request id: \S{1,80})?$/i, 'rate-limited'],
  [
    new RegExp(`^you(?:['’]ve| have) (?:hit|reached|exceeded|used up) your ${LIMITED}(?:limit|quota)$`, 'i'),
    'quota-exhausted',
  ],
  [
    new RegExp(`^(?:your )?${LIMITED}(?:limit|quota) (?:has been )?(?:reached|exceeded|exhausted)$`, 'i'),
    'quota-exhausted',
  ],
  [/^you(?:['’]re| are) out of (?:extra )?usage$/i, 'quota-exhausted'],
  [/^(?:Repeated )?529 Overloaded(?: errors)?$|^Overloaded$|^Selected model is at capacity$/i, 'overloaded'],
  [/^Your credit balance is too low(?: to access .{1,40})?$|^Credit balance is too low$/i, 'billing'],
];

/** Later sentences of a notice: when the limit resets, and offers. */
const FURTHER =
  /^(?:\d{10,13}$|(?:please )?(?:try|retry|wait|upgrade|visit|contact)\b|(?:please )?(?:check|see) (?:your\b|https?:|\w+\.com\b)|\/\w|https?:|to (?:continue|increase|get)\b|this (?:request would|is usually)\b|the API is at capacity|if it persists|turn on|learn more)/i;

/** `resets 7pm (Europe/Madrid)`: a time and nothing else. */
function isReset(sentence: string): boolean {
  const [first = '', ...words] = sentence.split(/[ ,]+/);
  return /^resets?$/i.test(first) && words.length > 0 && words.length <= 12 && words.every((word) => TIME.test(word));
}

const TIME =
  /^(?:\d[\w:.+-]*|[ap]m|at|in|on|and|days?|hours?|minutes?|seconds?|UTC|GMT|\([\w/+-]+\)|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*)$/i;

import { errorText } from '../../../model/errors.ts';
import { plainLine } from '../../../text/plain-text.ts';
import type { Posted } from '../../ports/channel.ts';
import type { Library } from './library.ts';

/** Codes of Discord's errors that decide what follows. */
export const CODE = {
  unknownChannel: 10_003,
  unknownMessage: 10_008,
  noAccess: 50_001,
  noDirectMessages: 50_007,
  noPermission: 50_013,
  notHere: 50_024,
  archived: 50_083,
  hasThread: 160_004,
  locked: 160_005,
} as const;

/** There is no way to this place any more. */
const GONE: readonly number[] = [
  ...[CODE.unknownChannel, CODE.unknownMessage, CODE.noAccess, CODE.noDirectMessages, CODE.noPermission],
  ...[CODE.archived, CODE.locked],
];

/** A refused token gets no better within seconds. */
const TOKEN_MS = 600_000;

/** Why a call failed, and what that means for the one who called. */
export type Failure = Exclude<Posted, { did: 'posted' }> & {
  /** Discord's own number; absent: it did not answer, or not in its words. */
  readonly code?: number;
  /** The call may have done its work. */
  readonly isUnsure: boolean;
};

/** Pure but for the classes of the library. Every error of a call is one of these. */
export function failureOf({ rest }: Pick<Library, 'rest'>, error: unknown): Failure {
  if (error instanceof rest.RateLimitError) {
    return { did: 'later', why: 'Discord asks to wait', afterMs: Math.ceil(error.retryAfter), isUnsure: false };
  }
  if (error instanceof rest.HTTPError) {
    return { did: 'later', why: `Discord answers with ${error.status}`, isUnsure: error.status >= 500 };
  }
  if (!(error instanceof rest.DiscordAPIError)) {
    return { did: 'later', why: `Discord does not answer: ${plainLine(reason(error))}`, isUnsure: true };
  }
  const code = Number(error.code);
  if (error.status === 401) {
    return { did: 'later', why: 'Discord refuses the token', afterMs: TOKEN_MS, code, isUnsure: false };
  }
  const why = `Discord refuses: ${plainLine(error.message)} (${error.status}, ${error.code})`;
  return { did: 'refused', why, gone: GONE.includes(code) || error.status === 404, code, isUnsure: false };
}

/** Errors of a connection say why in their cause. */
function reason(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause === undefined ? errorText(error) : errorText(cause);
}

import { z } from 'zod';
import { errorText } from '../../../model/errors.ts';
import { plainLine } from '../../../text/plain-text.ts';
import type { Posted } from '../../ports/channel.ts';

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
/** Where it says only that it is too much. */
const LIMIT_MS = 5_000;

/** Why a call failed, and what that means for the one who called. */
export type Failure = Exclude<Posted, { did: 'posted' }> & {
  /** Discord's own number; absent: it did not answer, or not in its words. */
  readonly code?: number;
  /** Only a person can end it. */
  readonly isToken?: boolean;
};

export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** Why an answer is not what was asked for. Pure. */
export function failureIn({ status, headers, body }: Response): Failure {
  const words = wordsIn(body);
  if (status === 429) {
    const seconds = Number(words.retry_after ?? headers['retry-after']);
    const afterMs = Number.isFinite(seconds) ? Math.ceil(seconds * 1_000) : LIMIT_MS;
    return { did: 'later', why: 'Discord asks to wait', afterMs };
  }
  if (status === 401) return { did: 'later', why: 'Discord refuses the token', afterMs: TOKEN_MS, isToken: true };
  if (status < 400 || status >= 500) return { did: 'later', why: `Discord answers with ${status}` };
  const { code = 0, message = 'without a word' } = words;
  const why = `Discord refuses: ${plainLine(message)} (${status}, ${code})`;
  return { did: 'refused', why, gone: GONE.includes(code) || status === 404, code };
}

const wordsSchema = z.object({
  message: z.string().optional(),
  code: z.number().optional(),
  retry_after: z.number().optional(),
});

function wordsIn(body: string): z.infer<typeof wordsSchema> {
  try {
    return wordsSchema.safeParse(JSON.parse(body)).data ?? {};
  } catch {
    return {};
  }
}

/** There was no answer. The call may have done its work. */
export function noAnswer(error: unknown): Failure {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const text = errorText(error);
  return { did: 'later', why: `Discord does not answer: ${plainLine(text === '' ? code : text)}` };
}

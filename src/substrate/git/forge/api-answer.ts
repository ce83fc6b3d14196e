import type { z } from 'zod';
import { defined } from '../../../text/defined.ts';
import { parseJson } from '../../../text/json.ts';
import type { NotDone } from '../../ports/forge-answer.ts';
import { refused, said } from './remotes.ts';

/** An answer of a forge's API. */
export type ApiAnswer =
  | {
      readonly type: 'ok';
      /** undefined: it was no JSON, see `text`. */
      readonly body: unknown;
      readonly text: string;
      readonly etag?: string;
      /** Whether there is another page. */
      readonly more: boolean;
      /** Bytes of the whole, where it is a part. */
      readonly total?: number;
    }
  /** As it was when its `etag` was seen. */
  | { readonly type: 'same' }
  | NotDone;

const SECOND_MS = 1_000;
const AWHILE_MS = 60_000;
/** No forge asks for more; a wrong clock may. */
const MOST_MS = 3_600_000;
const LIMITED = /rate limit|abuse detection|too many requests/i;

interface Response {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Reads output that begins with a status line and headers, as `gh api --include` prints it. undefined: it does not. */
export function readResponse(output: string): Response | undefined {
  const [status] = output.match(/^HTTP\/[\d.]+ (\d{3})/)?.slice(1) ?? [];
  if (status === undefined) return undefined;
  const end = /\r?\n\r?\n/.exec(output);
  const head = end === null ? output : output.slice(0, end.index);
  const headers = head.split(/\r?\n/).slice(1).map(headerOf);
  return {
    status: Number(status),
    headers: new Map(headers),
    body: end === null ? '' : output.slice(end.index + end[0].length),
  };
}

function headerOf(line: string): readonly [string, string] {
  const at = line.indexOf(':');
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
}

/** Pure. `login`: the command by which a person logs in. */
export function apiAnswer({ status, headers, body }: Response, login: string): ApiAnswer {
  if (status === 304) return { type: 'same' };
  const json = parseJson(body);
  if (status >= 200 && status < 300) {
    const etag = headers.get('etag');
    const more = /\brel="?next"?/.test(headers.get('link') ?? '') || (headers.get('x-next-page') ?? '') !== '';
    const [, size] = /\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
    const total = status === 206 && size !== undefined ? Number(size) : undefined;
    return limitedQuery(json) ?? { type: 'ok', body: json, text: body, more, ...defined({ etag, total }) };
  }
  const why = `${status}${messageOf(json)}`;
  if (status === 401) return refused(`the forge does not take the login: ${why}`, `Log in again: \`${login}\`.`);
  if (status === 404 || status === 410) return { type: 'gone', why };
  if (status === 429 || (status === 403 && isLimit(headers, body))) {
    return { type: 'later', why: `it has a limit: ${why}`, afterMs: waitOf(headers) };
  }
  if (status >= 500 || status === 408) return { type: 'later', why, afterMs: waitOf(headers) };
  return refused(`the forge refuses it: ${why}`);
}

function isLimit(headers: ReadonlyMap<string, string>, body: string): boolean {
  return headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after') || LIMITED.test(body);
}

/** By `retry-after`, or the reset of the limit, which is counted from the forge's own clock. */
function waitOf(headers: ReadonlyMap<string, string>): number {
  const after = Number(headers.get('retry-after') ?? Number.NaN) * SECOND_MS;
  if (after > 0) return Math.min(after, MOST_MS);
  const isUsedUp = (headers.get('x-ratelimit-remaining') ?? headers.get('ratelimit-remaining')) === '0';
  const reset = Number(headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset') ?? Number.NaN) * SECOND_MS;
  const until = reset - Date.parse(headers.get('date') ?? '');
  return isUsedUp && until > 0 ? Math.min(until + SECOND_MS, MOST_MS) : AWHILE_MS;
}

/** GraphQL answers 200 and says in the body that there is a limit. */
function limitedQuery(json: unknown): NotDone | undefined {
  const { errors } = (json ?? {}) as { errors?: unknown };
  if (!Array.isArray(errors) || !LIMITED.test(JSON.stringify(errors).replaceAll('_', ' '))) return undefined;
  return { type: 'later', why: 'it has a limit for queries', afterMs: AWHILE_MS };
}

function messageOf(json: unknown): string {
  const { message } = (json ?? {}) as { message?: unknown };
  return typeof message === 'string' && message !== '' ? ` ${said(message).slice(0, 300)}` : '';
}

/** The answer of a program that printed no response. */
export function unreachable(why: string): NotDone {
  return { type: 'later', why: said(why).slice(0, 300), afterMs: AWHILE_MS };
}

/** Takes from an answer what is needed. */
export function readValue<Read, const Result extends { readonly type: string }>(
  answer: ApiAnswer,
  schema: z.ZodType<Read>,
  make: (read: Read) => Result,
): Result | NotDone {
  if (answer.type === 'same') return refused('the forge says that nothing has changed, and was not asked that');
  if (answer.type !== 'ok') return answer;
  const read = schema.safeParse(answer.body);
  return read.success ? make(read.data) : refused('squad does not understand the answer of the forge');
}

import { errorText } from '../../model/errors.ts';
import { isJsonObject, parseJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { langsmithBody } from './langsmith.ts';
import { otlpBody } from './otlp.ts';
import { endedIn, type Span } from './span.ts';
import type { TraceTarget } from './target.ts';

export const BATCH = 100;
/** Waiting spans; about 5 MB of them. */
const MOST_QUEUED = 5000;
const ANSWER_MS = 5000;
/** Before the second and the third try. */
const RETRY_MS = [1000, 3000] as const;
const MOST_ANSWER_BYTES = 64 * 1024;

/** `why`: what kept the last of the dropped spans from being sent. */
export interface Sent {
  readonly sent: number;
  readonly dropped: number;
  readonly why: string | undefined;
}

/** Sends spans in batches, one after the other, and never makes its caller wait. */
export interface Sender {
  push(spans: readonly Span[]): void;
  /** Counts spans that are not sent. */
  drop(count: number, why: string): void;
  /** Resolves once nothing waits. */
  idle(): Promise<Sent>;
  /** Tries for at most `ms` to send what waits, and drops the rest. */
  close(ms: number): Promise<Sent>;
}

class Refused extends Error {
  /** Trying again would not help. */
  readonly isFinal: boolean;

  constructor(status: number) {
    super(`the endpoint answered ${status}`);
    this.isFinal = status < 500 && status !== 408 && status !== 429;
  }
}

export function createSender(target: TraceTarget): Sender {
  const queue: Span[] = [];
  const given = { sent: 0, dropped: 0 };
  let why: string | undefined;
  let pumping: Promise<void> | undefined;
  const closing = new AbortController();
  const late = new AbortController();

  const drop = (count: number, reason: string): void => {
    given.dropped += count;
    if (count > 0) why = reason;
  };
  const sendBatch = async (batch: readonly Span[]): Promise<void> => {
    const count = endedIn(batch);
    for (let tries = 0; ; tries += 1) {
      try {
        const rejected = Math.min(await post(target, batch, late.signal), count);
        given.sent += count - rejected;
        return drop(rejected, 'the endpoint rejected them');
      } catch (error) {
        const pause = RETRY_MS[tries];
        const isLast = pause === undefined || closing.signal.aborted || (error instanceof Refused && error.isFinal);
        if (isLast) return drop(count, reasonOf(error));
        await wait(pause, closing.signal);
      }
    }
  };
  const pump = async (): Promise<void> => {
    while (queue.length > 0 && !late.signal.aborted) await sendBatch(queue.splice(0, BATCH));
  };
  const start = (): Promise<void> => {
    pumping ??= pump().finally(() => void (pumping = undefined));
    return pumping;
  };
  const idle = async (): Promise<Sent> => {
    while (queue.length > 0 && !late.signal.aborted) await start();
    await pumping;
    drop(endedIn(queue.splice(0)), 'there was no time left');
    return { ...given, why };
  };
  return {
    push: (spans) => {
      const taken = takenBy(target, spans);
      const room = Math.max(0, MOST_QUEUED - queue.length);
      queue.push(...taken.slice(0, room));
      drop(endedIn(taken.slice(room)), why ?? 'the endpoint is too slow');
      if (queue.length > 0) void start();
    },
    drop,
    idle,
    close: async (ms) => {
      closing.abort();
      const timer = setTimeout(() => late.abort(), ms);
      return idle().finally(() => clearTimeout(timer));
    },
  };
}

/** OTLP knows no span that has not ended. */
function takenBy({ to }: TraceTarget, spans: readonly Span[]): readonly Span[] {
  return to === 'otlp' ? spans.filter(({ isOpen }) => isOpen !== true) : spans;
}

/** How many spans of the batch the endpoint rejected. */
async function post(target: TraceTarget, batch: readonly Span[], late: AbortSignal): Promise<number> {
  const { to, project } = target;
  const answer = await sendJson(target, to === 'langsmith' ? langsmithBody(batch, project) : otlpBody(batch), late);
  return to === 'otlp' ? rejectedIn(answer) : 0;
}

/**
 * Sends one body, or asks where there is none, and returns the answer, cut. Throws if the endpoint does not take it.
 */
export async function sendJson(
  { to, url, headers }: Pick<TraceTarget, 'to' | 'url' | 'headers'>,
  body: string | undefined,
  late?: AbortSignal,
): Promise<string> {
  const limit = AbortSignal.timeout(ANSWER_MS);
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'squad' },
    ...(body === undefined ? {} : { body }),
    // A key must not follow to another address.
    redirect: 'error',
    signal: late === undefined ? limit : AbortSignal.any([late, limit]),
  });
  const answer = await readSome(response);
  // LangSmith has this already.
  if (response.ok || (to === 'langsmith' && response.status === 409)) return answer;
  throw new Refused(response.status);
}

async function readSome({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MOST_ANSWER_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function rejectedIn(answer: string): number {
  const read = parseJson(answer);
  const partial = isJsonObject(read) ? read['partialSuccess'] : undefined;
  const rejected = isJsonObject(partial) ? Number(partial['rejectedSpans']) : 0;
  return Number.isInteger(rejected) ? Math.max(0, rejected) : 0;
}

/** Why it was not sent. The error of `fetch` itself says nothing. */
export function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'the endpoint did not answer in time';
  if (error instanceof Error && error.name === 'AbortError') return 'there was no time left';
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  return plainLine(errorText(cause), 200);
}

function wait(ms: number, until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      until.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (until.aborted) done();
    else until.addEventListener('abort', done);
  });
}

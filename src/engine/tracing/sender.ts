import { request as plainRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
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
/** For the answer that has come and was not read yet. */
const MOMENT_MS = 50;

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
  /**
   * Tries for at most `ms` to send what waits, and drops the rest; not again where nothing was answered for so long already. `late` aborts
   * when the time is over.
   */
  close(ms: number): { readonly sent: Promise<Sent>; readonly late: AbortSignal };
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
  const [closing, late] = [new AbortController(), new AbortController()];
  const silence = createSilence();

  const drop = (count: number, reason: string): void => {
    given.dropped += count;
    if (count > 0) why = reason;
  };
  const sendBatch = async (batch: readonly Span[]): Promise<void> => {
    const count = endedIn(batch);
    for (let tries = 0; ; tries += 1) {
      silence.begin();
      try {
        const rejected = Math.min(await post(target, batch, late.signal), count);
        silence.end();
        given.sent += count - rejected;
        return drop(rejected, 'the endpoint rejected them');
      } catch (error) {
        if (!isTimeout(error)) silence.end();
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
    close: (ms) => {
      closing.abort();
      setTimeout(() => late.abort(), silence.hasLasted(ms) ? Math.min(ms, MOMENT_MS) : ms).unref();
      return { sent: idle(), late: late.signal };
    },
  };
}

/** Since when an answer is waited for, over all tries. */
function createSilence() {
  let since: number | undefined;
  return {
    begin: (): void => void (since ??= performance.now()),
    end: (): void => void (since = undefined),
    hasLasted: (ms: number): boolean => since !== undefined && performance.now() - since >= ms,
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
  const signal = late === undefined ? limit : AbortSignal.any([late, limit]);
  const method = body === undefined ? 'GET' : 'POST';
  const all = { ...headers, 'content-type': 'application/json', 'user-agent': 'squad' };
  try {
    const response = await open(url, { method, headers: all, signal }, body);
    const { statusCode: status = 0 } = response;
    const answer = await readSome(response);
    // LangSmith has this already.
    if ((status >= 200 && status < 300) || (to === 'langsmith' && status === 409)) return answer;
    throw new Refused(status);
  } catch (error) {
    throw signal.aborted && !(error instanceof Refused) ? signal.reason : error;
  }
}

/**
 * Follows no redirect: a key must not go to another address. `fetch` would keep a connection that is being made, and with it this process,
 * for ten seconds after it was given up.
 */
async function open(url: string, options: RequestOptions, body: string | undefined): Promise<IncomingMessage> {
  const send = url.startsWith('https:') ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => void send(url, options, resolve).on('error', reject).end(body));
}

async function readSome(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
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

/** Why it was not sent. */
export function reasonOf(error: unknown): string {
  if (isTimeout(error)) return 'the endpoint did not answer in time';
  if (error instanceof Error && error.name === 'AbortError') return 'there was no time left';
  // One for each address of a name.
  const [first = error] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return plainLine(errorText(first), 200);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
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

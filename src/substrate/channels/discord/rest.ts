import { Agent as PlainAgent, type IncomingMessage, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { failureIn, noAnswer, type Failure, type Response } from './answer.ts';

const DISCORD = 'https://discord.com/api';
const LONGEST_MS = 15_000;
const MOST_BYTES = 8 * 1024 * 1024;
/** Discord refuses requests without a name in this form. */
const AGENT = 'DiscordBot (https://www.npmjs.com/package/agentsquad, 1)';

export type Answer<T> = { readonly value: T } | Failure;

export type Call = <T>(method: 'GET' | 'POST', path: string, body?: object) => Promise<Answer<T>>;

/** Calls of Discord's API, one try each. An error is a value, and no call waits for a limit: its caller decides that. */
export function createCall(token: string, api = DISCORD, now: () => number = Date.now): Call {
  const isSecure = api.startsWith('https:');
  const agent = new (isSecure ? SecureAgent : PlainAgent)({ keepAlive: true, maxSockets: 4 });
  const send = isSecure ? secureRequest : plainRequest;
  /** By method and path: until when Discord has said that it takes no more. */
  const full = new Map<string, number>();
  const withoutToken = (failure: Failure): Failure => ({
    ...failure,
    why: failure.why.replaceAll(token, '[redacted]'),
  });
  return async <T>(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer<T>> => {
    const route = `${method} ${path.replace(/\?.*/, '')}`;
    const wait = (full.get(route) ?? 0) - now();
    if (wait > 0) return { did: 'later', why: 'Discord asks to wait', afterMs: wait };
    full.delete(route);
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const text = body === undefined ? undefined : JSON.stringify(body);
        const headers = {
          ...{ authorization: `Bot ${token}`, 'user-agent': AGENT },
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        };
        send(`${api}/v10/${path}`, { method, agent, headers, signal: AbortSignal.timeout(LONGEST_MS) }, resolve)
          .on('error', reject)
          .end(text);
      });
      const answer = { status: response.statusCode ?? 0, headers: response.headers, body: await textOf(response) };
      const resetMs = limitIn(answer);
      if (resetMs !== undefined) full.set(route, now() + resetMs);
      if (answer.status < 200 || answer.status >= 300) return withoutToken(failureIn(answer));
      return { value: JSON.parse(answer.body) as T };
    } catch (error) {
      return withoutToken(noAnswer(error));
    }
  };
}

/** How long there is no room for another such call. */
function limitIn({ headers }: Response): number | undefined {
  if (headers['x-ratelimit-remaining'] !== '0') return undefined;
  const seconds = Number(headers['x-ratelimit-reset-after']);
  return Number.isFinite(seconds) ? Math.ceil(seconds * 1_000) : undefined;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MOST_BYTES) throw new Error('its answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

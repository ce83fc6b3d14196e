import type { WebhookSettings } from '../../../model/people/settings.ts';
import type { Channel, Post, Posted } from '../../ports/channel.ts';
import type { Clock } from '../../ports/clock.ts';
import { askSigned } from './ask-signed.ts';
import { serveInbox } from './inbox.ts';
import { pollInbox } from './poll.ts';
import { createVerifier } from './signature.ts';

const LONGEST = 8_000;

interface Webhook {
  readonly settings: Pick<WebhookSettings, 'url' | 'poll' | 'listen'>;
  readonly secret: string;
  readonly clock: Clock;
}

/** A channel of plain HTTP: what is due is posted, signed; messages are posted here or fetched, signed as well. */
export function createWebhook({ settings, secret, clock }: Webhook): Channel {
  const { url, poll, listen } = settings;
  const verifier = createVerifier(secret, () => clock.now());
  return {
    longest: LONGEST,
    listen: async (ports, stopped) => {
      if (poll !== undefined) return pollInbox(poll, { ...ports, secret, clock }, stopped);
      if (listen !== undefined) return serveInbox(listen, { ...ports, verifier, now: () => clock.now() }, stopped);
      ports.state('connected');
      while (!stopped.aborted) await clock.sleep(3_600_000, stopped);
    },
    send: async (post) => send(url, post, { secret, now: clock.now() }),
    directPlace: (sender) => Promise.resolve(`@${sender}`),
    // Messages that were sent while squad was away come again from their sender, or by the next question.
    // eslint-disable-next-line require-yield
    async *history() {},
  };
}

async function send(
  url: string,
  { place, text, nonce }: Post,
  { secret, now }: { readonly secret: string; readonly now: number },
): Promise<Posted> {
  const body = JSON.stringify({ type: 'post', place, text, nonce });
  try {
    const { response } = await askSigned(url, body, { secret, now, headers: { 'idempotency-key': nonce } });
    return meaningOf(response.status, response.headers.get('retry-after'));
  } catch (error) {
    return { did: 'later', why: causeOf(error) };
  }
}

function meaningOf(status: number, retryAfter: string | null): Posted {
  const why = `the address answers ${status}`;
  if (status >= 200 && status < 300) return { did: 'posted' };
  if (status >= 500 || [408, 425, 429].includes(status)) {
    const seconds = Number(retryAfter ?? Number.NaN);
    return { did: 'later', why, ...(seconds > 0 ? { afterMs: seconds * 1000 } : {}) };
  }
  return { did: 'refused', why, gone: status === 404 || status === 410 };
}

/** `fetch failed` says nothing; its cause does. */
function causeOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

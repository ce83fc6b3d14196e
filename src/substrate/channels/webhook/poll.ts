import { randomBytes } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { ListenPorts } from '../../ports/channel.ts';
import { askSigned } from './ask-signed.ts';
import { messageIn, pageSchema } from './message.ts';
import { createVerifier, SIGNATURE_HEADER, TIME_HEADER } from './signature.ts';

const PAUSE_MS = 5_000;
/** The place by which it is noted how far an inbox is read, whose messages may be of any place. */
const INBOX = 'inbox/polled';

interface PollPorts extends ListenPorts {
  readonly secret: string;
  readonly clock: Clock;
}

/** Fetches messages from an address until `stopped`. Rejects where an answer is not what it has to be. */
export async function pollInbox(address: string, ports: PollPorts, stopped: AbortSignal): Promise<void> {
  const { clock, state } = ports;
  const verifier = createVerifier(ports.secret, () => clock.now());
  while (!stopped.aborted) {
    const count = await readPage(address, ports, verifier, stopped);
    if (stopped.aborted) return;
    state('connected');
    if (count === 0) await clock.sleep(PAUSE_MS, stopped);
  }
}

async function readPage(
  address: string,
  { secret, clock, after, take, passed, say }: PollPorts,
  verifier: ReturnType<typeof createVerifier>,
  stopped: AbortSignal,
): Promise<number> {
  const nonce = randomBytes(12).toString('hex');
  const from = after().get(INBOX);
  const question = JSON.stringify({ type: 'poll', nonce, ...(from === undefined ? {} : { after: from }) });
  const { response, body } = await askSigned(address, question, { secret, now: clock.now(), stopped });
  if (!response.ok) throw new Error(`the inbox answers ${response.status}`);
  const [time, signature] = [TIME_HEADER, SIGNATURE_HEADER].map((name) => response.headers.get(name) ?? undefined);
  const problem = verifier.problem({ time, signature, body }, { once: false });
  if (problem !== undefined) throw new Error(`the answer of the inbox is refused: ${problem}`);
  const page = pageSchema.safeParse(parsed(body)).data;
  if (page?.nonce !== nonce) throw new Error('the answer of the inbox is not one to this question');
  for (const given of page.messages) {
    const message = messageIn(given, Math.min(given.at ?? clock.now(), clock.now()));
    if ('problem' in message) say(`a message is left out: ${message.problem}`);
    else await take(message);
    if (stopped.aborted) return 0;
  }
  const last = page.messages.at(-1)?.id;
  if (last !== undefined) await passed(INBOX, last);
  return page.messages.length;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

import { createServer, type IncomingMessage as HttpRequest, type Server, type ServerResponse } from 'node:http';
import type { ListenPorts } from '../../ports/channel.ts';
import { messageIn } from './message.ts';
import { createVerifier, SIGNATURE_HEADER, TIME_HEADER } from './signature.ts';

/** A text of 64 KiB in JSON, where each byte may take six. */
const MOST_BYTES = 512 * 1024;
const MOST_WAITING = 32;
const SLOW_MS = 15_000;

interface InboxPorts extends Pick<ListenPorts, 'take' | 'state'> {
  readonly verifier: ReturnType<typeof createVerifier>;
  readonly now: () => number;
}

interface Answer {
  readonly status: number;
  readonly words: string;
}

/** Takes messages that are posted here, until `stopped`. Rejects where it cannot listen. */
export async function serveInbox(
  { port, host }: { readonly port: number; readonly host: string },
  ports: InboxPorts,
  stopped: AbortSignal,
): Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const server = createServer((request, response) => {
    if (waiting >= MOST_WAITING) return answer(response, { status: 503, words: 'too many at once' });
    waiting += 1;
    void answerTo(request, ports, (work) => {
      const turn = last.then(work, work);
      last = turn.catch(() => undefined);
      return turn;
    })
      .catch(() => ({ status: 503, words: 'it could not be taken; send it again' }))
      .then((said) => answer(response, said))
      .finally(() => void (waiting -= 1));
  });
  server.requestTimeout = SLOW_MS;
  server.headersTimeout = SLOW_MS;
  server.maxConnections = 2 * MOST_WAITING;
  await started(server, port, host);
  ports.state('connected');
  await ended(server, stopped);
  await last;
}

type InOrder = <T>(work: () => Promise<T>) => Promise<T>;

async function answerTo(request: HttpRequest, { verifier, take, now }: InboxPorts, inOrder: InOrder): Promise<Answer> {
  if (request.method !== 'POST') return { status: 405, words: 'post a message' };
  const [time, signature] = [headerOf(request, TIME_HEADER), headerOf(request, SIGNATURE_HEADER)];
  const early = verifier.timeProblem(time);
  if (early !== undefined) return { status: 401, words: early };
  const body = await bodyOf(request);
  if (body === undefined) return { status: 413, words: 'larger than 512 KiB' };
  const problem = verifier.problem({ time, signature, body }, { once: true });
  if (problem !== undefined) return { status: problem.includes('before') ? 409 : 401, words: problem };
  const message = messageIn(parsed(body), now());
  if ('problem' in message) return { status: 400, words: message.problem };
  try {
    await inOrder(() => take(message));
    return { status: 200, words: 'taken' };
  } catch (error) {
    verifier.forget(signature);
    throw error;
  }
}

function headerOf(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** undefined: it is too large. */
async function bodyOf(request: HttpRequest): Promise<Uint8Array | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}

function answer(response: ServerResponse, { status, words }: Answer): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${words}\n`);
}

async function started(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function ended(server: Server, stopped: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      server.close(() => resolve());
      server.closeAllConnections();
    };
    server.once('error', (error) => {
      server.close();
      reject(error);
    });
    if (stopped.aborted) stop();
    else stopped.addEventListener('abort', stop, { once: true });
  });
}

import { ServerResponse, STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Instead } from './guard.ts';

/** The server may have the request, with this target in place of its own. */
interface Passed {
  readonly target: string;
}

/** Decides about a request before the server hears of it. */
export type Decide = (request: IncomingMessage) => Promise<Instead | Passed>;

/** How a request reaches the listeners of an HTTP server, with or without a change of the protocol. */
const ARRIVALS: ReadonlySet<unknown> = new Set(['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect']);

/** From now on the server hears only of requests that `decide` lets through, by the target that it names; the others get its answer. */
export function keepDoor(server: Server, decide: Decide, command: string): void {
  const emit = server.emit.bind(server) as (event: string | symbol, ...given: unknown[]) => boolean;
  // Node itself would answer 400 to a request without a Host header, and no sentence.
  Object.assign(server, { requireHostHeader: false });
  // A client that leaves while squad decides is no error of the server.
  server.on('connection', (socket) => void socket.on('error', () => undefined));
  server.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    if (!ARRIVALS.has(event)) return emit(event, ...given);
    const [request, target] = given as [IncomingMessage, ServerResponse | Socket];
    decide(request).then(
      (decided) => {
        if (!('target' in decided)) return answer(target, decided);
        request.url = decided.target;
        emit(event, ...given);
      },
      () => answer(target, { status: 403, text: `${command} could not find out who asks.` }),
    );
    return true;
  };
}

function answer(target: ServerResponse | Socket, { status, text, readBy }: Instead): void {
  const body = Buffer.from(`${text}\n`);
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(body.length),
    connection: 'close',
    ...(readBy === undefined ? {} : { 'access-control-allow-origin': readBy, vary: 'Origin' }),
  };
  if (target instanceof ServerResponse) {
    target.writeHead(status, headers).end(body);
    return;
  }
  // A request to change the protocol comes with a bare socket: Node makes no response for it.
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  target.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n`), body]));
}

import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isSameSecret, makeSecret } from '../../../model/secret.ts';
import type { McpServer } from '../../../model/turn-request.ts';
import { asObject, fieldsOf } from '../../../text/json.ts';
import { Rpc, RpcError, type Fields } from './json-rpc.ts';

const MOST_BODY = 4 * 1024 * 1024;
const LAST_WORDS = 2 * 1024;
const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'squad', version: '1' } };

type Environment = Readonly<Record<string, string>>;
type StdioServer = McpServer & { readonly transport: { readonly type: 'stdio' } };

/**
 * MCP servers of stdio by HTTP on loopback, for the holder of this turn's token. A required server starts now and has
 * `openMs` to answer, or this throws with its last words; the others start with the first request to them.
 */
export async function serveMcp(
  servers: readonly McpServer[],
  environment: Environment,
  openMs: number,
): Promise<readonly McpServer[]> {
  const { createServer } = await import('node:http');
  const authorization = `Bearer ${makeSecret()}`;
  const bridges = new Map(servers.filter(isStdio).map((server) => [`/${server.name}`, bridgeTo(server, environment)]));
  const listener = createServer((request, response) => {
    const bridge = bridges.get(request.url ?? '');
    if (bridge === undefined || !isSameSecret(request.headers.authorization ?? '', authorization))
      return end(response, 401);
    if (request.method !== 'POST') return end(response.setHeader('allow', 'POST'), 405);
    bodyOf(request)
      .then((body) => (body === undefined ? end(response, 413) : forward(bridge, fieldsOf(body), response)))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const required = servers.filter(({ required: isRequired }) => isRequired === true);
  await Promise.all(required.map(async ({ name }) => bridges.get(`/${name}`)?.opened(openMs)));
  const { port } = listener.address() as AddressInfo;
  return servers.map((server) => {
    const url = `http://127.0.0.1:${port}/${server.name}`;
    return isStdio(server) ? { ...server, transport: { type: 'http', url, headers: { authorization } } } : server;
  });
}

interface Bridge {
  /** The server's answer to `initialize`, which squad says to it once. Rejects if it ends first, or after so long. */
  opened(mostMs?: number): Promise<Fields>;
  readonly rpc: () => Rpc;
}

function bridgeTo({ name, transport }: StdioServer, environment: Environment): Bridge {
  let started: ReturnType<typeof startServer> | undefined;
  const start = () => (started ??= startServer(name, transport, environment));
  return {
    rpc: () => start().rpc,
    opened: async (mostMs) => {
      const { hello, fail } = start();
      const late = () => fail(`did not answer within ${Number(mostMs) / 1000} s`);
      const timer = mostMs === undefined ? undefined : setTimeout(late, mostMs);
      return hello.finally(() => clearTimeout(timer));
    },
  };
}

function startServer(name: string, { command, args, env }: StdioServer['transport'], environment: Environment) {
  const child = spawn(command, args, { env: { ...environment, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let words = '';
  child.stderr.on('data', (chunk: Buffer) => (words = (words + chunk.toString('utf8')).slice(-LAST_WORDS)));
  const rpc: Rpc = new Rpc(child.stdin, {
    request: (id) => rpc.decline(id, -32601, 'squad offers no such method'),
    notice: () => undefined,
    noise: () => undefined,
  });
  child.stdout.on('data', (chunk: Buffer) => rpc.read(chunk));
  child.stdin.on('error', () => undefined);
  const fail = (what: string) => rpc.fail(new Error(`the MCP server ${name} ${what}${words && `: ${words.trim()}`}`));
  child.on('error', ({ message }) => fail(`did not start: ${message}`)).on('close', () => fail('has ended'));
  const hello = rpc.request('initialize', HELLO).then((answer) => {
    rpc.notify('notifications/initialized', {});
    return answer;
  });
  // The one who waits hears of it.
  hello.catch(() => undefined);
  return { rpc, hello, fail };
}

async function forward(bridge: Bridge, { id, method, params }: Fields, response: ServerResponse): Promise<void> {
  if (typeof method !== 'string') return end(response, 400);
  const given = asObject(params);
  if (id === undefined) {
    // The first is said once, by squad. The second names a request by the client's id, which the server never saw.
    if (!/^notifications\/(?:initialized|cancelled)$/.test(method)) bridge.rpc().notify(method, given);
    return end(response, 202);
  }
  const answer = await bridge
    .opened()
    .then((hello) => (method === 'initialize' ? hello : bridge.rpc().request(method, given)))
    .then(
      (result) => ({ result }),
      (error: Error) => ({ error: { code: error instanceof RpcError ? error.code : -32000, message: error.message } }),
    );
  end(response.setHeader('content-type', 'application/json'), 200, { jsonrpc: '2.0', id, ...answer });
}

/** undefined: it is too long. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MOST_BODY) chunks.push(chunk);
  }
  return length > MOST_BODY ? undefined : Buffer.concat(chunks).toString('utf8');
}

function isStdio(server: McpServer): server is StdioServer {
  return server.transport.type === 'stdio';
}

function end(response: ServerResponse, status: number, body?: Fields): void {
  response.writeHead(status).end(body && JSON.stringify(body));
}

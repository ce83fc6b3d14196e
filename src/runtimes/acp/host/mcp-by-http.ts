import { randomBytes, timingSafeEqual } from 'node:crypto';
import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { McpServer } from '../../../model/turn-request.ts';
import { fieldsOf } from '../../../text/json.ts';
import { createRpc, RpcError, type Fields, type Rpc } from './rpc.ts';

const MOST_BODY = 4 * 1024 * 1024;

/** MCP servers of stdio by HTTP on loopback, for the holder of this turn's token. Each starts with the first request to it. */
export async function serveMcp(
  servers: readonly McpServer[],
  environment: Readonly<Record<string, string>>,
): Promise<readonly McpServer[]> {
  const { createServer } = await import('node:http');
  const authorization = `Bearer ${randomBytes(32).toString('hex')}`;
  const bridges = new Map<string, Rpc>();
  const listener = createServer((request, response) => {
    const server = servers.find(({ name }) => request.url === `/${name}`);
    if (server === undefined || !isSame(request.headers.authorization ?? '', authorization)) return end(response, 401);
    if (request.method !== 'POST') return end(response.setHeader('allow', 'POST'), 405);
    const bridge = bridges.get(server.name) ?? startServer(server.transport, environment);
    bridges.set(server.name, bridge);
    void bodyOf(request).then((body) => (body === undefined ? end(response, 413) : forward(bridge, body, response)));
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  return servers.map((server) => {
    const url = `http://127.0.0.1:${port}/${server.name}`;
    return server.transport.type === 'http'
      ? server
      : { ...server, transport: { type: 'http', url, headers: { authorization } } };
  });
}

async function forward(bridge: Rpc, body: string, response: ServerResponse): Promise<void> {
  const { id, method, params = {} } = fieldsOf(body);
  if (typeof method !== 'string') return end(response, 400);
  if (id === undefined) {
    // It names a request by the client's id, which the server never saw.
    if (method !== 'notifications/cancelled') bridge.notify(method, params as object);
    return end(response, 202);
  }
  const answer = await bridge.request(method, params as object).then(
    (result) => ({ result }),
    (error: Error) => ({ error: { code: error instanceof RpcError ? error.code : -32000, message: error.message } }),
  );
  end(response.setHeader('content-type', 'application/json'), 200, { jsonrpc: '2.0', id, ...answer });
}

function startServer(transport: McpServer['transport'], environment: Readonly<Record<string, string>>): Rpc {
  const { command, args, env } = transport as Extract<McpServer['transport'], { type: 'stdio' }>;
  const child = spawn(command, args, { env: { ...environment, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  const rpc = createRpc(child.stdin, {
    request: (id) => rpc.decline(id, -32601, 'not offered here'),
    notice: () => undefined,
    noise: () => undefined,
  });
  child.stdout.on('data', (chunk: Buffer) => rpc.read(chunk));
  child.stdin.on('error', () => undefined);
  const fail = () => rpc.fail(new Error('the MCP server has ended'));
  child.on('error', fail).on('close', fail);
  return rpc;
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MOST_BODY) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isSame(given: string, wanted: string): boolean {
  return given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted));
}

function end(response: ServerResponse, status: number, body?: Fields): void {
  response.writeHead(status).end(body && JSON.stringify(body));
}

import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Json } from '../../src/text/json.ts';
import { jsonSchema } from '../../src/text/json-schema.ts';

/** The mail server that tests start: as it was built by `npm test`, else its sources. */
export const MAIL_SERVER_ENTRY = fileURLToPath(
  new URL(
    process.env['SQUAD_TEST_BUILT'] === '1' ? '../../dist/mcp.mjs' : '../../src/cli/mcp/main.ts',
    import.meta.url,
  ),
);

const answerSchema = z.object({
  id: z.int(),
  result: z.record(z.string(), jsonSchema).optional(),
  error: z.object({ code: z.int(), message: z.string() }).optional(),
});

const callSchema = z.object({
  isError: z.boolean().default(false),
  content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
  structuredContent: z.record(z.string(), jsonSchema).optional(),
});

type ToolResult = z.infer<typeof callSchema>;

export interface McpClient {
  readonly child: ChildProcess;
  readonly stderr: () => string;
  /** The answer to one request; `id`: in place of the next number. Rejects with the server's error, or when it ends. */
  request(method: string, params: Json, id?: number): Promise<Record<string, Json>>;
  /** Shakes hands. */
  open(): Promise<Record<string, Json>>;
  call(tool: string, given?: Json, id?: number): Promise<ToolResult>;
  /** Closes its input; resolves with its exit code. */
  end(): Promise<number | null>;
  readonly ended: Promise<number | null>;
}

/** As squad starts it. */
const FLAGS = ['--no-sparkplug', '--no-maglev', '--no-opt'];

/** A client of `squad mcp`, which is a process of its own. */
export function startMailServer(turnFile: string, environment: Readonly<Record<string, string>> = {}): McpClient {
  const child = spawn(process.execPath, [...FLAGS, MAIL_SERVER_ENTRY, '--turn-file', turnFile], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const waiting = new Map<number, PromiseWithResolvers<Record<string, Json>>>();
  let errors = '';
  let last = 0;
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString('utf8')));
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  void ended.then((code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the server ended (${String(code)}): ${errors}`));
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = answerSchema.parse(JSON.parse(line));
    const asked = waiting.get(id);
    if (result === undefined) asked?.reject(new Error(error?.message ?? 'an answer without a result'));
    else asked?.resolve(result);
    waiting.delete(id);
  });
  const send = (message: object): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const request: McpClient['request'] = async (method, params, id) => {
    last += 1;
    const answer = Promise.withResolvers<Record<string, Json>>();
    waiting.set(id ?? last, answer);
    send({ id: id ?? last, method, params });
    return answer.promise;
  };
  return {
    child,
    stderr: () => errors,
    request,
    open: async () => {
      const clientInfo = { name: 'test', version: '1' };
      const server = await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
      send({ method: 'notifications/initialized' });
      return server;
    },
    call: async (tool, given = {}, id?) =>
      callSchema.parse(await request('tools/call', { name: tool, arguments: given }, id)),
    end: async () => {
      child.stdin.end();
      return ended;
    },
    ended,
  };
}

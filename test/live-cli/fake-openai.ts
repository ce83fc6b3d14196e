import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { zstdDecompressSync } from 'node:zlib';

/** One thing the fake model does when it is asked. */
export type FakeReply =
  | { type: 'text'; text: string; reasoning?: string; usage?: Partial<FakeUsage> }
  /** Answers slowly, in pieces: a long generation, in which only life signs show that anything happens. */
  | { type: 'slow-text'; pieces: readonly string[]; pauseMs: number }
  | { type: 'calls'; calls: readonly FakeCall[]; text?: string }
  | { type: 'nothing' }
  | { type: 'failure'; failure: FakeFailure };

export type FakeCall =
  | { name: string; namespace?: string; arguments: unknown }
  /** A freeform tool (`apply_patch`, `exec`): its input is text, not JSON. */
  | { name: string; input: string };

type FakeFailure =
  | 'bad-request'
  | 'unauthorized'
  | 'forbidden'
  | 'model-not-found'
  | 'rate-limited'
  | 'insufficient-quota'
  | 'usage-limit'
  | 'context-overflow'
  | 'server-error'
  | 'overloaded'
  | 'cut-stream'
  | 'cut-after-message'
  | 'incomplete'
  | 'content-filter'
  | 'hang';

/** Decides the reply from the request alone, or plays a list: one reply per step since the last words of the user. */
export type FakeScript = readonly FakeReply[] | ((request: FakeRequest) => FakeReply | Promise<FakeReply>);

export interface FakeRequest {
  /** How many requests came before this one. */
  readonly number: number;
  /** Tool results since the user spoke last. */
  readonly step: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: FakeBody;
  /** What the user said last. */
  readonly prompt: string;
  /** Everything said in the role, joined. */
  said(role: string): string;
  /** What the tools answered since the user spoke last. */
  readonly toolOutputs: readonly string[];
}

interface FakeBody {
  readonly model?: string;
  readonly instructions?: string;
  readonly input?: readonly FakeItem[];
  readonly tools?: readonly FakeTool[];
  readonly text?: unknown;
  readonly reasoning?: unknown;
}

interface FakeTool {
  readonly name?: string;
  readonly description?: string;
  readonly tools?: readonly FakeTool[];
}

interface FakeItem {
  readonly tools?: readonly FakeTool[];
  readonly type?: string;
  readonly role?: string;
  readonly content?: string | readonly { text?: string }[];
  readonly output?: unknown;
}

interface FakeUsage {
  input: number;
  cached: number;
  output: number;
  reasoning: number;
}

export interface FakeOpenai {
  /** For `model_providers.<name>.base_url`. */
  readonly baseUrl: string;
  readonly requests: readonly FakeRequest[];
  /** Tokens of all complete answers, as they were reported to the CLI; `input` counts the cached ones too. */
  readonly used: Readonly<FakeUsage>;
  /** Ends open answers too. */
  close(): Promise<void>;
}

/** A stateless model behind the streaming Responses API, on loopback. */
export async function startFakeOpenai(script: FakeScript): Promise<FakeOpenai> {
  const requests: FakeRequest[] = [];
  const used = { input: 0, cached: 0, output: 0, reasoning: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    void readBody(incoming).then(async (body) => {
      if (incoming.method !== 'POST') return respond(response, 200, { data: [], models: [] });
      const request = describe(incoming, body, requests.length);
      requests.push(request);
      const reply = await choose(script, request);
      if (reply.type !== 'failure') {
        const usage = usageOf(reply);
        used.input += usage.input;
        used.cached += usage.cached;
        used.output += usage.output;
        used.reasoning += usage.reasoning;
      }
      return answer(response, reply, request);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    used,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** What the model can call a shell tool with, whatever this version of the CLI names it. */
export function shellCall(request: FakeRequest, script: string): FakeCall {
  const names = toolNames(request.body);
  if (names.includes('exec_command'))
    return { name: 'exec_command', arguments: { cmd: script, yield_time_ms: 30_000 } };
  if (names.includes('shell_command')) return { name: 'shell_command', arguments: { command: script } };
  if (names.includes('exec')) {
    const call = JSON.stringify({ cmd: script, yield_time_ms: 30_000 });
    return { name: 'exec', input: `text(JSON.stringify(await tools.exec_command(${call})))` };
  }
  return { name: 'shell', arguments: { command: ['bash', '-lc', script] } };
}

/** Newer models get their tools as an item of the conversation, nested in a namespace; others beside it. */
function toolNames(body: FakeBody): string[] {
  const beside = body.tools ?? [];
  const within = (body.input ?? []).flatMap((item) => item.tools ?? []);
  return [...beside, ...within].flatMap((tool) => [tool, ...(tool.tools ?? [])]).flatMap((tool) => tool.name ?? []);
}

async function choose(script: FakeScript, request: FakeRequest): Promise<FakeReply> {
  if (typeof script === 'function') return script(request);
  return script[Math.min(request.step, script.length - 1)] ?? { type: 'nothing' };
}

function describe(incoming: IncomingMessage, body: FakeBody, number: number): FakeRequest {
  const input = body.input ?? [];
  const lastWords = input.findLastIndex((item) => item.role === 'user');
  const outputs = input.slice(lastWords + 1).filter((item) => item.type?.endsWith('_call_output') === true);
  return {
    number,
    step: outputs.length,
    path: incoming.url ?? '',
    headers: incoming.headers,
    body,
    prompt: textOf(input[lastWords]?.content),
    said: (role) =>
      input
        .filter((item) => item.role === role)
        .map((item) => textOf(item.content))
        .join('\n'),
    toolOutputs: outputs.map((item) => (typeof item.output === 'string' ? item.output : JSON.stringify(item.output))),
  };
}

function textOf(content: FakeItem['content']): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content.map((part) => part.text ?? '').join('\n');
}

async function readBody(incoming: IncomingMessage): Promise<FakeBody> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const text = (incoming.headers['content-encoding'] === 'zstd' ? zstdDecompressSync(raw) : raw).toString('utf8');
  return text === '' ? {} : (JSON.parse(text) as FakeBody);
}

async function answer(response: ServerResponse, reply: FakeReply, request: FakeRequest): Promise<void> {
  switch (reply.type) {
    case 'failure':
      return fail(response, reply.failure);
    case 'nothing':
      return stream(response, [], {});
    case 'text':
      return stream(
        response,
        [...(reply.reasoning === undefined ? [] : [reasoning(reply.reasoning)]), message(reply.text)],
        {
          ...reply.usage,
        },
      );
    case 'slow-text':
      return streamSlowly(response, reply.pieces, reply.pauseMs);
    case 'calls': {
      const calls = reply.calls.map((call, index) => functionCall(call, `call_${request.number}_${index}`));
      return stream(response, [...(reply.text === undefined ? [] : [message(reply.text)]), ...calls], {});
    }
  }
}

function fail(response: ServerResponse, failure: FakeFailure): void {
  switch (failure) {
    case 'bad-request':
      return respond(response, 400, apiError('Bad request from the fake', 'invalid_request_error'));
    case 'unauthorized':
      return respond(response, 401, apiError('Incorrect API key provided', 'invalid_api_key'));
    case 'forbidden':
      return respond(response, 403, apiError('You have no access here', 'forbidden'));
    case 'model-not-found':
      return respond(response, 404, apiError('The model does not exist', 'model_not_found'));
    case 'rate-limited':
      return respond(response, 429, apiError('Slow down', 'rate_limit_exceeded'), { 'retry-after': '1' });
    case 'usage-limit': {
      const error = { type: 'usage_limit_reached', plan_type: 'plus', resets_at: Math.floor(Date.now() / 1000) + 3600 };
      return respond(response, 429, { error });
    }
    case 'server-error':
      return respond(response, 500, apiError('The fake broke', 'server_error'));
    case 'overloaded':
      return respond(response, 503, apiError('Too many', 'server_is_overloaded'));
    case 'insufficient-quota':
      return streamFailure(response, 'insufficient_quota', 'You exceeded your current quota');
    case 'context-overflow':
      return streamFailure(response, 'context_length_exceeded', 'Your input exceeds the context window');
    case 'cut-stream':
      begin(response);
      response.destroy();
      return;
    case 'cut-after-message':
      begin(response);
      sendItem(response, message('half of an answer'), 0);
      response.end();
      return;
    case 'incomplete':
      return streamIncomplete(response, 'max_output_tokens');
    case 'content-filter':
      return streamIncomplete(response, 'content_filter');
    case 'hang':
      begin(response);
  }
}

type Item = Record<string, unknown>;

function stream(response: ServerResponse, items: readonly Item[], usage: Partial<FakeUsage>): void {
  begin(response);
  for (const [index, item] of items.entries()) sendItem(response, item, index);
  complete(response, usage);
}

async function streamSlowly(response: ServerResponse, pieces: readonly string[], pauseMs: number): Promise<void> {
  begin(response);
  const item = { type: 'message', role: 'assistant', id: 'msg_slow', content: [] };
  event(response, { type: 'response.output_item.added', output_index: 0, item });
  for (const delta of pieces) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    event(response, {
      type: 'response.output_text.delta',
      item_id: 'msg_slow',
      output_index: 0,
      content_index: 0,
      delta,
    });
  }
  sendItem(response, { ...message(pieces.join('')), id: 'msg_slow' }, 0);
  complete(response, {});
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  event(response, { type: 'response.created', response: { id: 'resp_fake' } });
}

function sendItem(response: ServerResponse, item: Item, index: number): void {
  event(response, { type: 'response.output_item.added', output_index: index, item });
  event(response, { type: 'response.output_item.done', output_index: index, item });
}

/** Every answer costs the same unless its script says otherwise, so that tests can count. */
const USAGE: FakeUsage = { input: 200, cached: 50, output: 42, reasoning: 7 };

function usageOf(reply: FakeReply): FakeUsage {
  return { ...USAGE, ...(reply.type === 'text' ? reply.usage : {}) };
}

function complete(response: ServerResponse, given: Partial<FakeUsage>): void {
  const usage = { ...USAGE, ...given };
  event(response, {
    type: 'response.completed',
    response: {
      id: 'resp_fake',
      usage: {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: usage.cached },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: usage.reasoning },
        total_tokens: usage.input + usage.output,
      },
    },
  });
  response.end();
}

function streamFailure(response: ServerResponse, code: string, text: string): void {
  begin(response);
  event(response, { type: 'response.failed', response: { id: 'resp_fake', error: { code, message: text } } });
  response.end();
}

function streamIncomplete(response: ServerResponse, reason: string): void {
  begin(response);
  sendItem(response, message('an answer that is cut'), 0);
  event(response, { type: 'response.incomplete', response: { id: 'resp_fake', incomplete_details: { reason } } });
  response.end();
}

function event(response: ServerResponse, data: Item): void {
  response.write(`event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`);
}

function message(text: string): Item {
  return { type: 'message', role: 'assistant', id: 'msg_fake', content: [{ type: 'output_text', text }] };
}

function reasoning(text: string): Item {
  return { type: 'reasoning', id: 'rs_fake', summary: [{ type: 'summary_text', text }] };
}

function functionCall(call: FakeCall, id: string): Item {
  if ('input' in call)
    return { type: 'custom_tool_call', id: `ctc_${id}`, call_id: id, name: call.name, input: call.input };
  const namespace = call.namespace === undefined ? {} : { namespace: call.namespace };
  const text = JSON.stringify(call.arguments);
  return { type: 'function_call', id: `fc_${id}`, call_id: id, name: call.name, ...namespace, arguments: text };
}

function apiError(text: string, code: string): Item {
  return { error: { message: text, type: code, code, param: null } };
}

function respond(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A loopback stand-in for the Messages API, so that the real `claude` can take whole turns without a network or a key.
 * It keeps no state: what it answers depends only on the conversation that a request carries, so a retry or a resumed
 * session gets the same answer again. What it was asked is recorded, for tests that assert what reached the model.
 */
export interface FakeAnthropic {
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** Tokens of all complete answers, as they were reported to the CLI. */
  readonly used: Readonly<{ input: number; cached: number; output: number }>;
  close(): Promise<void>;
}

type FakeBlock = { type: 'text'; text: string } | { type: 'tool_use'; name: string; input: Record<string, unknown> };

export type FakeReply =
  /** Streams the blocks. `pauseMs` waits before each piece of text: a long generation. */
  | { type: 'message'; blocks: readonly FakeBlock[]; stopReason?: string; pauseMs?: number }
  | {
      type: 'failure';
      status: number;
      error: string;
      message: string;
      headers?: Record<string, string>;
      /** What only the Gemini API says beside the message. */
      details?: readonly object[];
    }
  /** The stream breaks off in the middle of a text. */
  | { type: 'cut'; text: string }
  /** An `error` event in the middle of the stream. */
  | { type: 'error-event'; error: string; message: string }
  /** Accepts the request and never answers. */
  | { type: 'hang' };

/** A list is read by step: the number of answers since the latest prompt. Its last entry answers everything after it. */
export type FakeScript = readonly FakeReply[] | ((request: FakeRequest) => FakeReply | Promise<FakeReply>);

export interface FakeRequest {
  readonly headers: IncomingMessage['headers'];
  readonly model: string;
  readonly system: string;
  readonly tools: readonly string[];
  /** The schema of the answer that the CLI wants, as the tool `StructuredOutput`. */
  readonly form?: unknown;
  /** Text of the latest message that a person (or squad) wrote. */
  readonly prompt: string;
  /** How many answers the model has given since that prompt. */
  readonly step: number;
  /** Results of the tools called since that prompt, in order. */
  readonly toolResults: readonly string[];
  /** How many of the conversation's messages came from the model. */
  readonly answers: number;
  readonly raw: string;
}

/**
 * `script` answers everything; with `scenarios`, a prompt that contains `[[name]]` is answered by the scenario of that
 * name instead.
 */
export async function startFakeAnthropic(
  script: FakeScript,
  scenarios: Readonly<Record<string, FakeScript>> = {},
): Promise<FakeAnthropic> {
  const requests: FakeRequest[] = [];
  const used = { input: 0, cached: 0, output: 0 };
  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch(() => response.destroy());
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await bodyOf(incoming);
    const path = (incoming.url ?? '').split('?')[0];
    if (incoming.method !== 'POST' || path !== '/v1/messages') {
      // The CLI also looks whether the host is there, and counts tokens; neither is part of a conversation.
      response.writeHead(path === '/v1/messages/count_tokens' ? 200 : 404, { 'content-type': 'application/json' });
      response.end('{"input_tokens":100}');
      return;
    }
    const body = JSON.parse(raw) as RequestBody;
    const request = describe(incoming, body, raw);
    requests.push(request);
    const reply = await chosen(request);
    if (reply.type === 'message') {
      used.input += USAGE.input_tokens + USAGE.cache_creation_input_tokens;
      used.cached += USAGE.cache_read_input_tokens;
      used.output += USAGE.output_tokens;
    }
    await answer(response, reply, body);
  }

  async function chosen(request: FakeRequest): Promise<FakeReply> {
    const name = /\[\[([a-z0-9-]+)\]\]/.exec(request.prompt)?.[1];
    const found = (name === undefined ? undefined : scenarios[name]) ?? script;
    const reply = typeof found === 'function' ? await found(request) : found[Math.min(request.step, found.length - 1)];
    return reply ?? { type: 'failure', status: 500, error: 'api_error', message: 'the fake model has an empty script' };
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    used,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** One text answer that ends the turn. */
export function says(text: string): FakeReply {
  return { type: 'message', blocks: [{ type: 'text', text }] };
}

/** One tool call; the conversation goes on with its result. */
export function calls(name: string, input: Record<string, unknown>): FakeReply {
  return { type: 'message', blocks: [{ type: 'tool_use', name, input }] };
}

export function runs(command: string): FakeReply {
  return calls('Bash', { command, description: 'run a command' });
}

export function fails(status: number, error: string, message: string, headers?: Record<string, string>): FakeReply {
  return { type: 'failure', status, error, message, ...(headers === undefined ? {} : { headers }) };
}

interface RequestBody {
  model?: string;
  stream?: boolean;
  system?: string | { text?: string }[];
  tools?: { name: string; input_schema?: unknown }[];
  messages?: { role: string; content: string | ContentBlock[] }[];
}

interface ContentBlock {
  type: string;
  text?: string;
  content?: string | { text?: string }[];
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function describe(incoming: IncomingMessage, body: RequestBody, raw: string): FakeRequest {
  const messages = body.messages ?? [];
  const promptAt = messages.findLastIndex(isPrompt);
  const since = messages.slice(promptAt + 1);
  return {
    headers: incoming.headers,
    model: body.model ?? '',
    system: textOf(body.system),
    tools: (body.tools ?? []).map(({ name }) => name),
    form: body.tools?.find(({ name }) => name === 'StructuredOutput')?.input_schema,
    prompt: textOf(messages[promptAt]?.content),
    step: since.filter(({ role }) => role === 'assistant').length,
    toolResults: since
      .flatMap(({ content }) => blocksOf(content))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => textOf(content)),
    answers: messages.filter(({ role }) => role === 'assistant').length,
    raw,
  };
}

/** The CLI puts the next prompt beside the result of a tool that ended the turn before, and reminders beside any. */
function isPrompt({ role, content }: NonNullable<RequestBody['messages']>[number]): boolean {
  const blocks = blocksOf(content);
  const isResult = blocks.some(({ type }) => type === 'tool_result');
  return role === 'user' && (!isResult || blocks.some(({ text = '' }) => /^(?!\s*<system-reminder)[^]*\S/.test(text)));
}

function blocksOf(content: string | ContentBlock[]): ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function textOf(content: string | { text?: string }[] | undefined): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content.map(({ text }) => text ?? '').join('\n');
}

async function answer(response: ServerResponse, reply: FakeReply, body: RequestBody): Promise<void> {
  switch (reply.type) {
    case 'hang':
      return;
    case 'failure':
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
      response.end(JSON.stringify({ type: 'error', error: { type: reply.error, message: reply.message } }));
      return;
    case 'cut':
      beginStream(response, body);
      sendText(response, 0, reply.text);
      setTimeout(() => response.destroy(), 50);
      return;
    case 'error-event':
      beginStream(response, body);
      send(response, 'error', { error: { type: reply.error, message: reply.message } });
      response.end();
      return;
    case 'message':
      await (body.stream === true ? streamMessage(response, reply, body) : sendMessage(response, reply, body));
      return;
  }
}

type MessageReply = Extract<FakeReply, { type: 'message' }>;

/** Every answer costs the same, so that tests can count. */
const USAGE = { input_tokens: 120, cache_creation_input_tokens: 30, cache_read_input_tokens: 50, output_tokens: 42 };

async function streamMessage(response: ServerResponse, reply: MessageReply, body: RequestBody): Promise<void> {
  beginStream(response, body);
  for (const [index, block] of reply.blocks.entries()) {
    if (block.type === 'tool_use') sendToolUse(response, index, block);
    else await sendSlowly(response, index, block.text, reply.pauseMs);
    send(response, 'content_block_stop', { index });
  }
  send(response, 'message_delta', { delta: { stop_reason: stopReasonOf(reply), stop_sequence: null }, usage: USAGE });
  send(response, 'message_stop', {});
  response.end();
}

async function sendSlowly(response: ServerResponse, index: number, text: string, pauseMs = 0): Promise<void> {
  const pieces = pauseMs === 0 ? [text] : text.split(/(?<= )/);
  send(response, 'content_block_start', { index, content_block: { type: 'text', text: '' } });
  for (const piece of pieces) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (response.destroyed) return;
    send(response, 'content_block_delta', { index, delta: { type: 'text_delta', text: piece } });
  }
}

function sendText(response: ServerResponse, index: number, text: string): void {
  send(response, 'content_block_start', { index, content_block: { type: 'text', text: '' } });
  send(response, 'content_block_delta', { index, delta: { type: 'text_delta', text } });
}

function sendToolUse(response: ServerResponse, index: number, block: Extract<FakeBlock, { type: 'tool_use' }>): void {
  const id = `toolu_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
  send(response, 'content_block_start', {
    index,
    content_block: { type: 'tool_use', id, name: block.name, input: {} },
  });
  const partial = JSON.stringify(block.input);
  send(response, 'content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: partial } });
}

function beginStream(response: ServerResponse, body: RequestBody): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_${randomUUID().slice(0, 8)}` });
  send(response, 'message_start', { message: { ...emptyMessage(body), usage: { ...USAGE, output_tokens: 1 } } });
}

function sendMessage(response: ServerResponse, reply: MessageReply, body: RequestBody): void {
  const content = reply.blocks.map((block) =>
    block.type === 'text' ? block : { ...block, id: `toolu_${randomUUID().replaceAll('-', '').slice(0, 24)}` },
  );
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ ...emptyMessage(body), content, stop_reason: stopReasonOf(reply), usage: USAGE }));
}

function emptyMessage(body: RequestBody): Record<string, unknown> {
  const id = `msg_${randomUUID().slice(0, 8)}`;
  return { id, type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null, usage: USAGE };
}

function stopReasonOf(reply: MessageReply): string {
  return reply.stopReason ?? (reply.blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn');
}

function send(response: ServerResponse, event: string, data: Record<string, unknown>): void {
  response.write(`event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`);
}

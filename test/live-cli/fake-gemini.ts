import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FakeReply, FakeRequest, FakeScript } from './fake-anthropic.ts';

/**
 * A loopback stand-in for the Gemini API, with the replies, scripts and requests of the fake of the Messages API. It keeps no state
 * either. A tool has the name that the agent gives it.
 */
export interface FakeGemini {
  /** For `GOOGLE_GEMINI_BASE_URL`. */
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** Tokens of all complete answers, as they were reported to the agent; `input` counts the cached ones too. */
  readonly used: Readonly<{ input: number; cached: number; output: number }>;
  close(): Promise<void>;
}

export async function startFakeGemini(script: FakeScript): Promise<FakeGemini> {
  const requests: FakeRequest[] = [];
  const used = { input: 0, cached: 0, output: 0 };
  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch(() => response.destroy());
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await bodyOf(incoming);
    const call = /\/models\/([^:/]+):(\w+)/.exec(incoming.url ?? '');
    const [, model = '', method = ''] = call ?? [];
    if (method === 'countTokens') return respond(response, 200, { totalTokens: 100 });
    if (!/generateContent$/i.test(method)) return respond(response, 404, { error: { code: 404, message: 'unknown' } });
    const request = describe(incoming, JSON.parse(raw) as RequestBody, model, raw);
    requests.push(request);
    const reply =
      typeof script === 'function' ? await script(request) : script[Math.min(request.step, script.length - 1)];
    if (reply?.type === 'message') {
      used.input += USAGE.promptTokenCount;
      used.cached += USAGE.cachedContentTokenCount;
      used.output += USAGE.candidatesTokenCount;
    }
    await answer(response, reply ?? EMPTY, method === 'streamGenerateContent');
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

const EMPTY: FakeReply = { type: 'failure', status: 500, error: 'INTERNAL', message: 'the fake has an empty script' };

interface Part {
  readonly text?: string;
  readonly functionCall?: { readonly name: string };
  readonly functionResponse?: { readonly response?: unknown };
}

interface Content {
  readonly role?: string;
  readonly parts?: readonly Part[];
}

interface RequestBody {
  readonly contents?: readonly Content[];
  readonly systemInstruction?: Content;
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function describe(incoming: IncomingMessage, body: RequestBody, model: string, raw: string): FakeRequest {
  const contents = body.contents ?? [];
  const partsOf = (content: Content | undefined): readonly Part[] => content?.parts ?? [];
  const promptAt = contents.findLastIndex(
    (content) => content.role === 'user' && !partsOf(content).some((part) => part.functionResponse !== undefined),
  );
  const since = contents.slice(promptAt + 1);
  return {
    headers: incoming.headers,
    model,
    system: textOf(partsOf(body.systemInstruction)),
    tools: (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []).map(({ name }) => name),
    prompt: textOf(partsOf(contents[promptAt])),
    step: since.filter(({ role }) => role === 'model').length,
    toolResults: since
      .flatMap(partsOf)
      .flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : [outputOf(functionResponse.response)])),
    answers: contents.filter(({ role }) => role === 'model').length,
    raw,
  };
}

function outputOf(response: unknown): string {
  const { output } = (response ?? {}) as { output?: unknown };
  return typeof output === 'string' ? output : JSON.stringify(response);
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text }) => text ?? '').join('\n');
}

async function answer(response: ServerResponse, reply: FakeReply, streams: boolean): Promise<void> {
  switch (reply.type) {
    case 'hang':
      return;
    case 'failure': {
      const { status, error, message, details = [] } = reply;
      return respond(response, status, { error: { code: status, message, status: error, details } }, reply.headers);
    }
    case 'cut':
      begin(response);
      send(response, candidate([{ text: reply.text }]));
      setTimeout(() => response.destroy(), 50);
      return;
    case 'error-event':
      begin(response);
      send(response, { error: { code: 500, message: reply.message, status: reply.error } });
      response.end();
      return;
    case 'message':
      return streams ? stream(response, reply) : respond(response, 200, whole(partsOfReply(reply), reply));
  }
}

type MessageReply = Extract<FakeReply, { type: 'message' }>;

/** Every answer costs the same, so that tests can count. */
const USAGE = { promptTokenCount: 200, cachedContentTokenCount: 50, candidatesTokenCount: 42, totalTokenCount: 242 };

async function stream(response: ServerResponse, reply: MessageReply): Promise<void> {
  begin(response);
  const parts = partsOfReply(reply);
  const pause = reply.pauseMs ?? 0;
  if (pause > 0) {
    for (const piece of parts.flatMap(({ text }) => (text ?? '').split(/(?<= )/))) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (response.destroyed) return;
      send(response, candidate([{ text: piece }]));
    }
    send(response, whole([{ text: '' }], reply));
  } else send(response, whole(parts, reply));
  response.end();
}

function partsOfReply({ blocks }: MessageReply): { text?: string; functionCall?: object }[] {
  return blocks.map((block) =>
    block.type === 'text' ? { text: block.text } : { functionCall: { name: block.name, args: block.input } },
  );
}

function candidate(parts: readonly object[]): object {
  return { candidates: [{ index: 0, content: { role: 'model', parts } }] };
}

function whole(parts: readonly object[], { stopReason = 'STOP' }: MessageReply): object {
  const content = { role: 'model', parts };
  return { candidates: [{ index: 0, content, finishReason: stopReason }], usageMetadata: USAGE };
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

function send(response: ServerResponse, data: object): void {
  response.write(`data: ${JSON.stringify(data)}\r\n\r\n`);
}

function respond(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

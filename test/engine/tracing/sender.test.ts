import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi, type TestContext } from 'vitest';
import { createSender } from '../../../src/engine/tracing/sender.ts';
import { endTraces } from '../../../src/engine/tracing/trace-end.ts';
import { spanId, type Span } from '../../../src/engine/tracing/span.ts';
import type { TraceTarget } from '../../../src/engine/tracing/target.ts';

interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly location?: string;
}

/** Answers in this order, the last one again and again. */
async function endpoint(test: TestContext, ...answers: readonly Answer[]) {
  const got: { path: string; spans: number }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      got.push({ path: request.url ?? '', spans: [...text.matchAll(/"name":"s\d+"/g)].length });
      const { status, body = '{}', location } = answers[Math.min(got.length, answers.length) - 1] ?? { status: 200 };
      response.writeHead(status, location === undefined ? {} : { location }).end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x` };
}

const target = (url: string, to: TraceTarget['to'] = 'otlp'): TraceTarget => ({
  to,
  url,
  headers: { key: 'k' },
  content: false,
});

function spans(count: number): Span[] {
  return Array.from({ length: count }, (_, index): Span => {
    const id = spanId('test', index);
    return { id, above: [], kind: 'node', name: `s${index}`, startedAt: 1, endedAt: 2, metadata: {} };
  });
}

describe('spans are sent', () => {
  it('in batches, and all are counted', async (test) => {
    const { got, url } = await endpoint(test, { status: 200 });
    const sender = createSender(target(url));
    sender.push(spans(250));
    expect(await sender.close(1000).sent).toEqual({ sent: 250, dropped: 0, why: undefined });
    expect(got.map(({ spans: count }) => count)).toEqual([100, 100, 50]);
  });

  it('again after an error that may pass', async (test) => {
    const { got, url } = await endpoint(test, { status: 503 }, { status: 200 });
    const sender = createSender(target(url));
    sender.push(spans(3));
    expect(await sender.idle()).toEqual({ sent: 3, dropped: 0, why: undefined });
    expect(got).toHaveLength(2);
  });

  it.for([400, 401, 403, 404, 413])('once where the endpoint answers %d', async (status, test) => {
    const { got, url } = await endpoint(test, { status });
    const sender = createSender(target(url));
    sender.push(spans(3));
    expect(await sender.idle()).toEqual({ sent: 0, dropped: 3, why: `the endpoint answered ${status}` });
    expect(got).toHaveLength(1);
  });

  it('as known already where LangSmith has them', async (test) => {
    const { url } = await endpoint(test, { status: 409 });
    const sender = createSender(target(url, 'langsmith'));
    sender.push(spans(3));
    expect(await sender.idle()).toMatchObject({ sent: 3, dropped: 0 });
  });

  it.for([
    ['{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}', 2],
    ['{"partialSuccess":{"rejectedSpans":1000000}}', 3],
    ['{"partialSuccess":{"rejectedSpans":-5}}', 0],
    ['{"partialSuccess":7}', 0],
    ['no JSON', 0],
    ['x'.repeat(500_000), 0],
  ] as const)('with what an OTLP endpoint rejected, %#', async ([body, dropped], test) => {
    const { url } = await endpoint(test, { status: 200, body });
    const sender = createSender(target(url));
    sender.push(spans(3));
    expect(await sender.idle()).toMatchObject({ sent: 3 - dropped, dropped });
  });

  it('to no other address, with a key or without', async (test) => {
    const other = await endpoint(test, { status: 200 });
    const { url } = await endpoint(test, { status: 307, location: other.url });
    const sender = createSender(target(url));
    sender.push(spans(3));
    expect(await sender.close(1000).sent).toMatchObject({ sent: 0, dropped: 3 });
    expect(other.got).toEqual([]);
  });

  it('from a queue that has an end', async (test) => {
    const { url } = await endpoint(test, { status: 200 });
    const sender = createSender(target(url));
    for (let times = 0; times < 60; times += 1) sender.push(spans(100));
    const { sent, dropped, why } = await sender.close(5000).sent;
    expect([sent + dropped, dropped, why]).toEqual([6000, 900, 'the endpoint is too slow']);
  });

  it('with what the caller drops', async () => {
    const sender = createSender(target('http://127.0.0.1:1/'));
    sender.drop(2, 'too many');
    sender.drop(0, 'never');
    expect(await sender.close(10).sent).toEqual({ sent: 0, dropped: 2, why: 'too many' });
  });
});

/** Timers that a test moves on, with those of limits of requests. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException('', 'TimeoutError')), ms);
    return controller.signal;
  });
  onTestFinished(() => {
    vi.useRealTimers();
    timeout.mockRestore();
  });
}

/** Takes each connection, and never answers. */
async function openHanging(test: TestContext): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer(() => undefined).on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const VIEW = {
  end: { outcome: 'done' },
  plan: { criteria: [], reviews: [] },
  use: { usage: { costUsd: 1, unknownCostTurns: 0 } },
} as const;

describe('the end of a run waits for an endpoint that hangs', () => {
  it.for([
    ['since the end', 0, 600],
    ['shortly', 500, 600],
    ['as long as the end waits', 600, 50],
    ['in the pause before its second try', 5500, 50],
    ['in its third try', 15_000, 50],
  ] as const)('%s', async ([, silentMs, most], test) => {
    const to = target(`${await openHanging(test)}/api/v1/runs/batch`, 'langsmith');
    stopTime();
    const sender = createSender(to);
    sender.push(spans(3));
    await vi.advanceTimersByTimeAsync(silentMs);
    sender.push(spans(150));
    const over = new AbortController();
    const closed = { root: spanId('test', 'root'), view: VIEW, ...sender.close(600) };
    const ended = endTraces(to, closed).finally(() => over.abort());
    let waited = 0;
    for (; !over.signal.aborted && waited < 20_000; waited += 10) await vi.advanceTimersByTimeAsync(10);
    expect(await ended).toMatchObject({ sent: 0, dropped: 153, scored: 0, why: 'there was no time left' });
    expect(waited).toBe(most);
  });
});

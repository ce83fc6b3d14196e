import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as an endpoint got it, whichever way. Ids as they came; a root has no parent. */
export interface Collected {
  readonly id: string;
  readonly trace: string;
  readonly parent: string | undefined;
  readonly name: string;
  /** ms */
  readonly from: number;
  readonly to: number;
  readonly error: string | undefined;
  /** LangSmith's metadata; OTLP's attributes, those of squad without their prefix. */
  readonly about: Readonly<Record<string, unknown>>;
  /** Of squad's own counting. */
  readonly usage:
    | { readonly input: number; readonly cached: number; readonly output: number; readonly usd: number }
    | undefined;
}

export interface Collector {
  readonly url: string;
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[];
  /** Of all requests, in their order. */
  spans(): Collected[];
  /** The newest of each id. */
  tree(): Map<string, Collected>;
  /** Variables that name this endpoint: for LangSmith, as one that serves pages too. */
  readonly environment: Record<string, string>;
  close(): Promise<void>;
}

/** How the endpoint behaves: it answers well, after a while, never, with an error, or is not there. */
/** The project that the endpoint says it has, of LangSmith's API. */
export const COLLECTED = {
  id: '11111111-2222-4333-8444-555555555555',
  tenant_id: '66666666-7777-4888-8999-aaaaaaaaaaaa',
} as const;

export type Manner = 'well' | 'slow' | 'hanging' | 'error' | 'refusing';
const KEY = 'lsv2_of_the_collector';

/** A real server on this machine that takes traces for both sinks. It can be used for any run, real agents too. */
export async function openCollector(manner: Manner = 'well'): Promise<Collector> {
  const requests: Collector['requests'][number][] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      const answer = (status: number): void =>
        void response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(request.method === 'GET' ? JSON.stringify([COLLECTED]) : '{}');
      if (manner === 'well') answer(200);
      if (manner === 'error') answer(500);
      if (manner === 'slow') setTimeout(() => answer(200), 3000);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> => closeServer(server);
  if (manner === 'refusing') await close();
  const readers = new Map([
    ['/api/v1/runs/batch', ofLangsmith],
    ['/runs/batch', ofLangsmith],
    ['/v1/traces', ofOtlp],
  ]);
  const spans = (): Collected[] => requests.flatMap(({ path, body }) => readers.get(path)?.(body) ?? []);
  return {
    url,
    requests,
    spans,
    tree: () => new Map(spans().map((span) => [span.id, span])),
    environment: { LANGSMITH_ENDPOINT: `${url}/api/v1`, LANGSMITH_API_KEY: KEY, OTEL_EXPORTER_OTLP_ENDPOINT: url },
    close,
  };
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

interface LangsmithRun {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_run_id?: string;
  readonly dotted_order: string;
  readonly name: string;
  readonly start_time: string;
  /** Absent: it begins. */
  readonly end_time?: string;
  readonly error?: string;
  readonly extra: { readonly metadata: Record<string, unknown> & { readonly usage_metadata?: LangsmithUsage } };
}

interface LangsmithUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_token_details: { readonly cache_read: number };
  readonly total_cost?: number;
}

function ofLangsmith(body: string): Collected[] {
  const { post, patch } = JSON.parse(body) as { post: LangsmithRun[]; patch: LangsmithRun[] };
  // A root that ends is patched, and may be posted whole with it.
  const patched = new Set(patch.map(({ id }) => id));
  const ended = [...post.filter(({ id }) => !patched.has(id)), ...patch].filter((run) => run.end_time !== undefined);
  return ended.map((run) => {
    const { usage_metadata: use, ...about } = run.extra.metadata;
    const cached = use?.input_token_details.cache_read ?? 0;
    return {
      ...{ id: run.id, trace: run.trace_id, parent: run.parent_run_id, name: run.name, error: run.error, about },
      ...{ from: Date.parse(run.start_time), to: Date.parse(run.end_time ?? '') },
      usage: use && {
        ...{ input: use.input_tokens - cached, cached },
        ...{ output: use.output_tokens, usd: use.total_cost ?? 0 },
      },
    };
  });
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: { readonly key: string; readonly value: Record<string, string | number | boolean> }[];
}

function ofOtlp(body: string): Collected[] {
  const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] };
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map((span) => {
      const about = Object.fromEntries(
        span.attributes.map(({ key, value }) => {
          const [[type, one] = []] = Object.entries(value);
          return [key.replace(/^squad\./, ''), type === 'intValue' ? Number(one) : one];
        }),
      );
      const input = about['gen_ai.usage.input_tokens'];
      const cached = Number(about['gen_ai.usage.cache_read.input_tokens'] ?? 0);
      return {
        ...{ id: span.spanId, trace: span.traceId, parent: span.parentSpanId, name: span.name, about },
        ...{ from: Number(span.startTimeUnixNano) / 1e6, to: Number(span.endTimeUnixNano) / 1e6 },
        error: span.status.code === 2 ? (span.status.message ?? '') : undefined,
        usage:
          input === undefined
            ? undefined
            : {
                ...{ input: Number(input) - cached, cached },
                ...{ output: Number(about['gen_ai.usage.output_tokens']), usd: Number(about['cost_usd'] ?? 0) },
              },
      };
    });
}

/** What no tree may have: a parent that is not there, a span that ends before it begins, one that has two places. */
export function wrongIn(spans: readonly Collected[]): string[] {
  const known = new Map(spans.map((span) => [span.id, span]));
  return spans.flatMap(({ id, parent, trace, name, from, to }) => {
    const above = parent === undefined ? undefined : known.get(parent);
    const newest = known.get(id);
    return [
      ...(parent !== undefined && above === undefined ? [`${name} ${id}: its parent ${parent} is missing`] : []),
      ...(above !== undefined && above.trace !== trace ? [`${name} ${id}: its parent is in another trace`] : []),
      ...(to >= from ? [] : [`${name} ${id}: ends before it begins`]),
      ...(newest?.parent === parent && newest?.trace === trace && newest.name === name
        ? []
        : [`${id}: has two places`]),
    ];
  });
}

import { describe, expect, it } from 'vitest';
import type { NodeRun } from '../../../src/graph/ports.ts';
import type { LedgerEvent } from '../../../src/model/ledger-event.ts';
import type { Json } from '../../../src/text/json.ts';
import { langsmithBody } from '../../../src/engine/tracing/langsmith.ts';
import { otlpBody } from '../../../src/engine/tracing/otlp.ts';
import type { Span } from '../../../src/engine/tracing/span.ts';
import { endTrace } from '../../../src/engine/tracing/roots.ts';
import { trace, type Happening } from '../../../src/engine/tracing/spans.ts';
import { nothingTraced } from '../../../src/engine/tracing/trace-state.ts';

const RUN = '01a204cb-8b79-73a5-bb77-c08381a86d89';
const A = 'r.a86d89.one-1';
const MINUTE = 60_000;
const USAGE = { inputTokens: 7, cachedInputTokens: 3, outputTokens: 5, reasoningTokens: 2, costUsd: 0.5 };

let seq = 0;
const row = (type: string, data: Json = {}, about: Partial<LedgerEvent> = {}): Happening => {
  seq += 1;
  return { from: 'ledger', event: { seq, stream: RUN, type, at: seq * 10, cause: null, epoch: 1, data, ...about } };
};
const lease = (epoch: number, about: Partial<LedgerEvent> = {}): Happening => row('lease-acquired', { epoch }, about);
const defined = (): Happening =>
  row('run-defined', {
    name: 'r',
    playbook: 'delivery',
    promptHash: '0123456789ab',
    agents: [{ name: 'bob', role: 'builder', model: 'opus' }],
    described: { scripted: { provider: 'acme' } },
  });
const claim = (cause: number | null = 1, attemptId = A): Happening =>
  row(
    'attempt-claimed',
    { attemptId, taskId: 'one', kind: cause === null ? 'check' : 'turn', agent: 'bob', number: 1, runtime: 'scripted' },
    { cause },
  );
const announce = (): Happening => row('session-announced', { attemptId: A, fact: { session: 's-1', model: 'sonnet' } });
const settle = (outcome = 'completed', failure: string | null = null, about: Partial<LedgerEvent> = {}): Happening =>
  row('attempt-settled', { attemptId: A, kind: 'turn', outcome, failure, usage: USAGE }, about);
const input = (about: Partial<LedgerEvent> = {}): Happening => row('run-woken', { why: 'x' }, about);
const node = (run: Partial<NodeRun> = {}, epoch = 1): Happening => ({
  from: 'node',
  epoch,
  run: { node: 'collect', step: 4, cursor: 0, startedAt: 50, endedAt: 60, ...run },
});
const tool = (
  id: string,
  at: number,
  more: Partial<{ ok: boolean; denied: boolean; output: string }> = {},
): Happening[] => [
  {
    from: 'turn',
    attemptId: A,
    event: { type: 'tool-started', at, id, tool: 'Bash', kind: 'execute', input: { command: 'ls' } },
  },
  { from: 'turn', attemptId: A, event: { type: 'tool-ended', at: at + 5, id, ok: true, denied: false, ...more } },
];

interface Told {
  readonly spans: Span[];
  readonly left: Span[];
  /** Roots as they begin. */
  readonly begun: Span[];
  readonly dropped: number;
}

function told(happenings: readonly Happening[], content = false, detail = true): Told {
  let state = nothingTraced(RUN, content, detail);
  const spans: Span[] = [];
  const begun: Span[] = [];
  let dropped = 0;
  for (const happening of happenings) {
    const step = trace(state, happening);
    state = step.state;
    for (const span of step.spans) (span.isOpen === true ? begun : spans).push(span);
    dropped += step.dropped;
  }
  return { spans, left: endTrace(state), begun, dropped };
}

function fresh(make: () => readonly Happening[]): readonly Happening[] {
  seq = 0;
  return make();
}

const whole = (): readonly Happening[] =>
  fresh(() => [lease(1), defined(), claim(), ...tool('t', 32), announce(), node(), settle()]);

describe('spans', () => {
  it('are a tree: trace, attempt, tool; with the nodes of the engine next to attempts', () => {
    const { spans, left } = told(whole());
    const all = [...left, ...spans];
    const named = (kind: string) => all.find((span) => span.kind === kind);
    const [root, turn, call] = [named('trace'), named('turn'), named('tool')];
    const collected = all.find(({ name }) => name === 'collect');
    expect(all).toHaveLength(4);
    expect(root).toMatchObject({ above: [], name: 'squad r', startedAt: 10, endedAt: 60 });
    expect(collected?.above.map(({ id }) => id)).toEqual([root?.id]);
    expect(turn?.above.map(({ id }) => id)).toEqual([root?.id]);
    expect(call?.above.map(({ id }) => id)).toEqual([root?.id, turn?.id]);
    for (const { above, endedAt } of all) {
      for (const { id } of above) expect(all.find((one) => one.id === id)?.endedAt).toBeGreaterThanOrEqual(endedAt);
    }
  });

  it('have no nodes of the engine unless they were asked for, and the same places without them', () => {
    const [full, short] = [told(whole()), told(whole(), false, false)];
    const named = ({ spans, left }: Told) => [...spans, ...left].map(({ kind, id, above }) => [kind, id, above]);
    expect(named(short)).toEqual(named(full).filter(([kind]) => kind !== 'node'));
    expect(named(full).length).toBeGreaterThan(named(short).length);
  });

  it('begin with their root, once the run has a name', () => {
    const { begun, left } = told(fresh(() => [lease(1), defined(), input(), lease(2), input()]));
    expect(begun.map(({ kind, name, isOpen }) => [kind, name, isOpen])).toEqual([
      ['trace', 'squad r', true],
      ['trace', 'squad r', true],
    ]);
    expect(begun.at(-1)?.id).toBe(left.at(-1)?.id);
    expect(told(fresh(() => [lease(1)])).begun).toEqual([]);
  });

  it('say whose they are', () => {
    const { spans } = told(whole());
    expect(spans.find(({ kind }) => kind === 'turn')?.metadata).toEqual({
      ...{ thread_id: RUN, run: 'r', segment: 1, attempt: A, task: 'one', agent: 'bob', role: 'builder', number: 1 },
      ...{ runtime: 'scripted', provider: 'acme', session: 's-1', model: 'sonnet', outcome: 'completed' },
    });
    expect(spans.find(({ kind }) => kind === 'tool')?.metadata).toEqual({
      ...{
        thread_id: RUN,
        run: 'r',
        segment: 1,
        attempt: A,
        task: 'one',
        agent: 'bob',
        role: 'builder',
        session: 's-1',
      },
      ...{ call: 't', tool: 'Bash', kind: 'execute', ok: true, denied: false },
    });
  });

  it('are the same for the same rows', () => expect(told(whole())).toEqual(told(whole())));

  it('have no ids of other runs', () => {
    const other = nothingTraced('another', false);
    const first = trace(other, fresh(() => [lease(1)])[0] ?? lease(1)).state;
    expect(endTrace(first)[0]?.id).not.toBe(told(whole()).left[0]?.id);
  });

  it('have the ids of a turn also without the nodes and tools of the engine', () => {
    const rows = whole().filter(({ from }) => from === 'ledger');
    const live = told(whole());
    const later = told(rows);
    const ids = (of: typeof live) => [...of.left, ...of.spans].map(({ id, above }) => [id, above]);
    expect(ids(live)).toEqual(expect.arrayContaining(ids(later)));
    expect(later.spans.map(({ kind }) => kind)).toEqual(['turn']);
  });

  it('put a check of the engine below the trace', () => {
    const { spans, left } = told(fresh(() => [lease(1), claim(null), settle()]));
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({ kind: 'check', above: [{ id: left[0]?.id }] });
  });

  it.each([
    ['cancelled', null, 'cancelled'],
    ['failed', 'crashed', 'crashed'],
    ['completed', null, undefined],
  ] as const)('say how an attempt ended: %s %s', (outcome, failure, error) => {
    const { spans } = told(fresh(() => [lease(1), claim(), settle(outcome, failure)]));
    expect(spans.at(-1)?.error).toBe(error);
  });

  it('of two calls with one id are two', () => {
    const { spans } = told(fresh(() => [lease(1), claim(), ...tool('t', 22), ...tool('t', 28), settle()]));
    const calls = spans.filter(({ kind }) => kind === 'tool');
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });

  it('of a call without an end end with the turn, and those that are too many are counted', () => {
    const [start] = tool('x', 25);
    const calls = Array.from({ length: 305 }, (_, index) => tool(`t${index}`, 22)).flat();
    const open = told(fresh(() => [lease(1), claim(), ...(start === undefined ? [] : [start]), settle()]));
    expect(open.spans.at(-1)).toMatchObject({ kind: 'tool', error: 'not-ended', startedAt: 25, endedAt: 30 });
    const many = told(fresh(() => [lease(1), claim(), ...calls, settle()]));
    expect([many.spans.filter(({ kind }) => kind === 'tool').length, many.dropped]).toEqual([300, 5]);
  });

  it('have no content unless it was asked for', () => {
    const settled = (): Happening => ({ ...settle(), texts: { prompt: 'do it', answer: 'done it' } }) as Happening;
    const rows = () => fresh(() => [lease(1), claim(), ...tool('t', 22, { output: 'a file' }), settled()]);
    expect(told(rows(), true).spans.flatMap(({ content }) => content ?? [])).toEqual([
      { input: 'do it', output: 'done it' },
      { input: '{"command":"ls"}', output: 'a file' },
    ]);
    const without = told(fresh(() => [lease(1), claim(), ...tool('t', 22, { output: 'a file' }), settle()]));
    expect(without.spans.filter(({ content }) => content !== undefined)).toEqual([]);
    expect(JSON.stringify(without.spans)).not.toMatch(/a file|command/);
  });

  it('have no half of a word that an adapter cut', () => {
    const output = `${'x '.repeat(2030)}c4n4ry-half-of-a-sec`;
    const { spans } = told(
      fresh(() => [lease(1), claim(), ...tool('t', 22, { output }), settle()]),
      true,
    );
    expect(spans.at(-1)?.content?.output).toMatch(/^x x[ x]+$/);
  });
});

describe('a trace', () => {
  it('ends with its engine, at its last row, and each attempt stays where it was claimed', () => {
    const { spans, left } = told(fresh(() => [lease(1), defined(), claim(), input(), lease(2), settle(), node({}, 2)]));
    const [turn, collected, first] = spans;
    expect([turn?.kind, collected?.name, first?.kind]).toEqual(['turn', 'collect', 'trace']);
    // No earlier than the attempt that a later engine ended.
    expect(first).toMatchObject({
      startedAt: 10,
      endedAt: 60,
      metadata: { segment: 1, trace: 1, prompts: '0123456789ab' },
    });
    expect(turn?.above[0]?.id).toBe(first?.id);
    expect(collected?.above[0]?.id).toBe(left[0]?.id);
    expect(left[0]).toMatchObject({ startedAt: 50, metadata: { segment: 2, trace: 2 } });
  });

  it('ends after 30 minutes', () => {
    const at = 10 + 30 * MINUTE;
    const { spans, left } = told(fresh(() => [lease(1), input(), input({ at: at - 1 }), input({ at })]));
    expect(spans).toEqual([]);
    expect(left).toMatchObject([{ kind: 'trace', startedAt: 10, endedAt: at - 1 }, { startedAt: at }]);
  });

  it('ends before its 401st superstep, and a node is in the trace of its cursor', () => {
    const rows = fresh(() => [lease(1), ...Array.from({ length: 200 }, () => input())]);
    const { spans, left } = told(rows);
    expect([...spans, ...left].filter(({ kind }) => kind === 'trace')).toHaveLength(3);
    const roots = [...spans, ...left].map(({ id }) => id);
    const rootAt = (cursor: number) => told([...rows, node({ cursor })]).spans[0]?.above[0]?.id;
    expect([0, 1, 76, 77, 151, 152, 201].map((cursor) => roots.indexOf(rootAt(cursor) ?? ''))).toEqual([
      0, 0, 0, 1, 1, 2, 2,
    ]);
    // Five supersteps for each input, and three before the first.
    expect(5 * (77 - 1) + 3).toBeLessThanOrEqual(400);
  });

  it('ends after everything in it, however it was split, and is sent once', () => {
    const at = 10 + 30 * MINUTE;
    const rows = [
      () => lease(1),
      () => defined(),
      () => claim(),
      () => input({ at }),
      () => node({ cursor: 4, endedAt: at + 1 }),
    ];
    const late = [
      () => settle('completed', null, { at: at + 2 }),
      () => node({ cursor: 6, step: 5, endedAt: at + 3 }),
      () => input(),
    ];
    const { spans, left } = told(fresh(() => [...rows, ...late].map((make) => make())));
    const all = [...spans, ...left];
    expect(all.filter(({ kind }) => kind === 'trace')).toHaveLength(2);
    for (const { above, endedAt } of all) {
      for (const { id } of above) expect(all.find((one) => one.id === id)?.endedAt).toBeGreaterThanOrEqual(endedAt);
    }
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  });

  it('has the objective and the last word as its content, where that was asked for', () => {
    const texts = (happening: Happening, prompt: string, answer: string): Happening => {
      return { ...happening, texts: { prompt, answer } } as Happening;
    };
    const rows = () =>
      fresh(() => [
        ...[lease(1), texts(defined(), 'Make it.', '')],
        texts(row('run-published', { summary: { outcome: 'done' } }), '', 'DONE, all work is delivered'),
      ]);
    expect(told(rows(), true).left[0]?.content).toEqual({ input: 'Make it.', output: 'DONE, all work is delivered' });
    expect(told(whole()).left[0]?.content).toBeUndefined();
  });

  it('has the outcome of a run that is over', () => {
    const published = (outcome: string) => fresh(() => [lease(1), row('run-published', { summary: { outcome } })]);
    expect(told(published('done')).left[0]).toMatchObject({ error: undefined, metadata: { outcome: 'done' } });
    expect(told(published('failed')).left[0]).toMatchObject({ error: 'failed', metadata: { outcome: 'failed' } });
  });

  it('is none before an engine drives the run', () =>
    expect(told(fresh(() => [defined(), node()]))).toMatchObject({ spans: [], left: [] }));
});

describe('what a sink gets', () => {
  const all = (): Span[] => {
    const { spans, left } = told(whole());
    return [...spans, ...left];
  };

  it('is runs for LangSmith, in an order that its ids follow', () => {
    const body = JSON.parse(langsmithBody(all(), 'mine')) as Record<'post' | 'patch', Record<string, unknown>[]>;
    const post = [...body.post, ...body.patch];
    const root = post.find(({ parent_run_id: parent }) => parent === undefined);
    const turn = post.find(({ run_type: type }) => type === 'llm');
    expect(root?.['id']).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
    expect(post.every(({ trace_id: id, session_name: project }) => id === root?.['id'] && project === 'mine')).toBe(
      true,
    );
    expect(root?.['dotted_order']).toBe(`19700101T000000010000Z${String(root?.['id'])}`);
    for (const { id, parent_run_id: parent, dotted_order: order } of post) {
      const ids = String(order)
        .split('.')
        .map((part) => part.slice('19700101T000000010000Z'.length));
      expect([ids.at(-1), ids.at(-2)]).toEqual([id, parent]);
    }
    expect(turn).toMatchObject({
      extra: {
        metadata: {
          ...{ ls_provider: 'acme', ls_model_name: 'sonnet', ls_model_type: 'chat' },
          usage_metadata: {
            ...{ input_tokens: 10, output_tokens: 5, total_tokens: 15, total_cost: 0.5 },
            ...{ input_token_details: { cache_read: 3 }, output_token_details: { reasoning: 2 } },
          },
        },
      },
    });
  });

  it('is a root for LangSmith as it begins, then its end; and both whole where they come together', () => {
    const { begun, left } = told(whole());
    const sent = (spans: readonly Span[]) =>
      JSON.parse(langsmithBody(spans, 'mine')) as Record<'post' | 'patch', Record<string, unknown>[]>;
    const [first] = sent(begun).post;
    expect([sent(begun).post.length, sent(begun).patch.length, first?.['end_time'], first?.['outputs']]).toEqual([
      ...[1, 0, undefined, undefined],
    ]);
    const last = sent(left);
    expect([last.post, last.patch.length, last.patch[0]?.['id']]).toEqual([[], 1, first?.['id']]);
    expect(last.patch[0]?.['end_time']).toBeDefined();
    const both = sent([...begun, ...left]);
    expect(both.post).toEqual(both.patch);
  });

  it('is spans for OTLP, with the attributes for generative AI', () => {
    interface Body {
      resourceSpans: {
        scopeSpans: {
          spans: {
            name: string;
            traceId: string;
            spanId: string;
            kind: number;
            startTimeUnixNano: string;
            attributes: { key: string; value: object }[];
          }[];
        }[];
      }[];
    }
    const { resourceSpans } = JSON.parse(otlpBody(all())) as Body;
    const spans = resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
    const turn = spans.find(({ kind }) => kind === 3);
    expect(spans.every(({ traceId, spanId }) => /^[\da-f]{32}$/.test(traceId) && /^[\da-f]{16}$/.test(spanId))).toBe(
      true,
    );
    expect([turn?.name, turn?.startTimeUnixNano]).toEqual(['invoke_agent bob', '30000000']);
    const attributes = Object.fromEntries(turn?.attributes.map(({ key, value }) => [key, value]) ?? []);
    expect(attributes).toMatchObject({
      'gen_ai.operation.name': { stringValue: 'invoke_agent' },
      'gen_ai.provider.name': { stringValue: 'acme' },
      'gen_ai.conversation.id': { stringValue: 's-1' },
      'gen_ai.usage.input_tokens': { intValue: '10' },
      'gen_ai.usage.output_tokens': { intValue: '5' },
      'squad.cost_usd': { doubleValue: 0.5 },
      'squad.role': { stringValue: 'builder' },
      'squad.thread_id': { stringValue: RUN },
    });
    expect(spans.map(({ name }) => name)).toContain('execute_tool Bash');
  });
});

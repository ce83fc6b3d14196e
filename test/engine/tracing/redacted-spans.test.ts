import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../src/model/redaction/redactor.ts';
import type { LedgerEvent } from '../../../src/model/ledger-event.ts';
import type { Span } from '../../../src/engine/tracing/span.ts';
import { createTracer, sendRun } from '../../../src/engine/tracing/tracer.ts';
import type { Json } from '../../../src/text/json.ts';

/*
 * The ledger and the adapters redact what they write. That the tracer redacts too, is told here alone: its ledger holds secrets
 * as they are.
 */
const RUN = '01a204cb-8b79-73a5-bb77-c08381a86d89';
const ATTEMPT = 'r.a86d89.one-1';
const SECRET = 'c4n4ry-quite-long-secret';
const USAGE = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, reasoningTokens: 0, costUsd: 0 };
const PARTS = { content: true, detail: true };
const LEASE = { runId: RUN, epoch: 1, holder: 'test' };

const row = (seq: number, type: string, data: Json, cause: number | null = null): LedgerEvent => ({
  ...{ seq, stream: RUN, type, at: seq * 10, cause, epoch: 1, data },
});
const ROWS = [
  row(1, 'lease-acquired', { epoch: 1 }),
  row(2, 'run-defined', {
    ...{ name: `r-${SECRET}`, playbook: 'delivery', described: { scripted: { provider: `p-${SECRET}` } } },
    ...{ agents: [{ name: 'bob', role: 'builder', model: `m-${SECRET}` }], objective: { text: `do ${SECRET}` } },
  }),
  row(
    3,
    'attempt-claimed',
    {
      ...{ attemptId: ATTEMPT, taskId: `one-${SECRET}`, kind: 'turn', agent: 'bob', number: 1, runtime: 'scripted' },
    },
    2,
  ),
];
const SETTLED = row(9, 'attempt-settled', {
  ...{ attemptId: ATTEMPT, kind: 'turn', outcome: 'failed', failure: `why ${SECRET}`, usage: USAGE },
});

/** A ledger of these rows, and what a sender is given of it. */
function ports(rows: readonly LedgerEvent[]) {
  const given: Span[] = [];
  const sent = { sent: 0, dropped: 0, why: undefined };
  const sender = {
    push: (spans: readonly Span[]) => void given.push(...spans),
    drop: () => undefined,
    idle: () => Promise.resolve(sent),
    close: () => ({ sent: Promise.resolve(sent), late: new AbortController().signal }),
  };
  const ledger = {
    events: ({ after = 0 }: { after?: number }) => rows.filter(({ seq }) => seq > after),
    attempt: () => ({ request: JSON.stringify({ prompt: `asked ${SECRET}` }) }),
    settlement: () => ({ result: { text: `answered ${SECRET}` } }),
  };
  return { given, ports: { sender, ledger: ledger as never, redactor: createRedactor([SECRET]) } };
}

const kinds = (spans: readonly Span[]): string[] => [...new Set(spans.map(({ kind }) => kind))].toSorted();

describe('what a tracer sends of a ledger that holds a secret', () => {
  it('of a run at work has no secret, with content and tools', () => {
    const rows = [...ROWS];
    const { given, ports: own } = ports(rows);
    const tracer = createTracer(own, LEASE, PARTS);
    const at = 50;
    tracer.turn(ATTEMPT, {
      ...{ type: 'tool-started', at, id: 't', tool: `Bash ${SECRET}`, kind: 'execute', input: { command: SECRET } },
    });
    tracer.turn(ATTEMPT, { type: 'tool-ended', at: 60, id: 't', ok: false, denied: false, output: `out ${SECRET}` });
    rows.push(SETTLED);
    tracer.finish();
    expect(kinds(given)).toEqual(expect.arrayContaining(['tool', 'turn']));
    expect(JSON.stringify(given)).toContain('[redacted]');
    expect(JSON.stringify(given)).not.toContain(SECRET);
  });

  it('of what is still open at the end has no secret', () => {
    const { given, ports: own } = ports(ROWS);
    createTracer(own, LEASE, PARTS).finish();
    expect(given.length).toBeGreaterThan(0);
    expect(JSON.stringify(given)).not.toContain(SECRET);
  });

  it('of a run that is over has no secret', async () => {
    const { given, ports: own } = ports([...ROWS, SETTLED]);
    await sendRun(own, RUN, true);
    expect(kinds(given)).toContain('turn');
    expect(JSON.stringify(given)).not.toContain(SECRET);
  });

  it('has no half of a secret that was cut off, which could not be recognised', () => {
    for (const [room, place] of [
      [16_384, 'answer'],
      [8192, 'input'],
    ] as const) {
      const rows = [...ROWS];
      const long = ports(rows);
      const text = `${'x '.repeat(room / 2 - 8)}${SECRET} ${'y'.repeat(20_000)}`;
      const ledger = { ...(long.ports.ledger as object), settlement: () => ({ result: { text } }) } as never;
      const tracer = createTracer({ ...long.ports, ledger }, LEASE, PARTS);
      tracer.turn(ATTEMPT, { type: 'tool-started', at: 50, id: 't', tool: 'Bash', kind: 'execute', input: text });
      rows.push(SETTLED);
      tracer.finish();
      expect(JSON.stringify(long.given), place).toContain('x x x');
      expect(JSON.stringify(long.given), place).not.toContain(SECRET.slice(0, 6));
    }
  });
});

import { z } from 'zod';
import { isInput } from '../../rules/read-input.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import { defined } from '../../text/defined.ts';
import { spanId, type Span } from './span.ts';
import { base, type Trace, type Traced, type TraceState } from './trace-state.ts';

/** A trace ends before it can have more than 400 supersteps: five follow one input, and three come first. */
const MOST_INPUTS = 75;
const MOST_MS = 30 * 60_000;

const leaseSchema = z.object({ epoch: z.number() });

/** With the trace that this event belongs to. */
export function begin(state: TraceState, event: LedgerEvent): TraceState {
  const { trace: current, runId, traces } = state;
  const epoch = event.type === 'lease-acquired' ? leaseSchema.parse(event.data).epoch : undefined;
  const isFull =
    current !== undefined &&
    (event.at - current.startedAt >= MOST_MS || (current.inputs >= MOST_INPUTS && isInput(event)));
  if (epoch === undefined && !isFull) return state;
  const next: Trace = {
    id: spanId(runId, 'trace', event.seq),
    epoch: epoch ?? current?.epoch ?? 0,
    seq: event.seq,
    number: (current?.number ?? 0) + 1,
    startedAt: event.at,
    lastAt: event.at,
    inputs: 0,
    outcome: undefined,
    said: undefined,
  };
  return { ...state, trace: next, traces: epoch === undefined ? [...traces, next] : [next] };
}

export function lengthened(state: TraceState, event: LedgerEvent): TraceState {
  const { trace: current } = state;
  if (current === undefined) return state;
  const inputs = current.inputs + (isInput(event) ? 1 : 0);
  return { ...state, trace: { ...current, inputs, lastAt: Math.max(current.lastAt, event.at) } };
}

/** A trace ends no earlier than what is in it. */
export function ending(state: TraceState, spans: readonly Span[]): TraceState {
  const longer = (one: Trace): Trace => {
    const own = spans.filter(({ above }) => above[0]?.id === one.id);
    return { ...one, lastAt: Math.max(one.lastAt, ...own.map(({ endedAt }) => endedAt)) };
  };
  return { ...state, trace: state.trace && longer(state.trace), left: state.left.map(longer) };
}

/** With the beginning of the trace, once there is one and the run has a name. */
export function withBeginning({ state, spans, dropped }: Traced): Traced {
  const { trace: current, run, begun } = state;
  if (current === undefined || run === undefined || current.id === begun) return { state, spans, dropped };
  const beginning: Span = { ...rootSpan(state, current), isOpen: true };
  return { state: { ...state, begun: current.id }, spans: [...spans, beginning], dropped };
}

/** The roots of the trace that the engine leaves, and of those before it that were not sent yet. */
export function endTrace(state: TraceState): Span[] {
  const { trace: last, left } = state;
  return [...left, ...(last === undefined ? [] : [last])].map((one) => rootSpan(state, one));
}

function rootSpan({ runId, run, asked }: TraceState, of: Trace): Span {
  const { id, startedAt, lastAt: endedAt, number, epoch, outcome, said = '' } = of;
  const runtimes = [...new Set(run?.agents.flatMap(({ runtime }) => runtime ?? []))].join(', ');
  const about = {
    ...defined({ playbook: run?.playbook, prompts: run?.promptHash, segment: epoch, trace: number, outcome }),
    ...(runtimes === '' ? {} : { runtimes }),
  };
  const error = outcome === 'failed' ? outcome : undefined;
  return {
    ...{ id, startedAt, endedAt, above: [], kind: 'trace', error },
    name: run === undefined ? 'squad' : `squad ${run.name}`,
    metadata: { ...base(runId, run?.name), ...about },
    ...defined({ content: asked === undefined ? undefined : { input: asked, output: said } }),
  };
}

/** With the roots of the traces that were left before this event, and in which nothing is open any more. */
export function release({ state, spans, dropped }: Traced, seq: number): Traced {
  const open = new Set([...state.open.values()].map(({ above }) => above[0]?.id));
  const isOver = ({ id, seq: begun }: Trace): boolean => begun < seq && !open.has(id);
  const over = state.left.filter(isOver);
  const left = state.left.filter((one) => !isOver(one));
  return { state: { ...state, left }, spans: [...spans, ...over.map((one) => rootSpan(state, one))], dropped };
}

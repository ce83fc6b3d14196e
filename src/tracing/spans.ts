import { z } from 'zod';
import { INPUTS, isInput } from '../graph/decisions/read-input.ts';
import type { NodeRun } from '../graph/ports.ts';
import { attemptScope, attemptWithin } from '../model/attempt-id.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import { RUN_EVENTS } from '../model/run.ts';
import { usageSchema } from '../model/usage.ts';
import { defined } from '../text/defined.ts';
import { plainLine } from '../text/plain-text.ts';
import { spanId, type Ancestor, type Span } from './span.ts';
import { NO_TOOLS, toolSpans, withTool, type ToolEvent, type Tools } from './tool-spans.ts';

/** A trace ends before it can have more than 400 supersteps: five follow one input, and three come first. */
const MOST_INPUTS = 75;
const MOST_MS = 30 * 60_000;
const MOST_TEXT = 16_384;

/** The events that spans are made of, and those that they are counted by. */
export const TRACED_EVENTS: readonly string[] = [
  ...INPUTS,
  RUN_EVENTS.defined,
  RUN_EVENTS.published,
  'lease-acquired',
  'attempt-claimed',
  'session-announced',
];

/** One thing that happened. */
export type Happening =
  /** `texts`: what was asked and answered in the attempt that ended; absent: content was not asked for. */
  | {
      readonly from: 'ledger';
      readonly event: LedgerEvent;
      readonly texts?: { readonly prompt: string; readonly answer: string };
    }
  | { readonly from: 'turn'; readonly attemptId: string; readonly event: ToolEvent }
  | { readonly from: 'node'; readonly epoch: number; readonly run: NodeRun };

interface Trace extends Ancestor {
  readonly epoch: number;
  /** The event it begins with. */
  readonly seq: number;
  readonly number: number;
  readonly lastAt: number;
  readonly inputs: number;
  readonly outcome: string | undefined;
}

type Metadata = Span['metadata'];

interface OpenAttempt extends Ancestor {
  readonly above: readonly Ancestor[];
  readonly name: string;
  readonly kind: 'turn' | 'check';
  readonly metadata: Metadata;
  /** The node that claimed it, which ends with it; undefined: the engine claimed it for its own work. */
  readonly node: Omit<Span, 'endedAt'> | undefined;
}

/** What has happened so far, from which the next spans are made. */
export interface TraceState {
  readonly runId: string;
  readonly content: boolean;
  readonly run: z.infer<typeof definedSchema> | undefined;
  /** undefined: no engine has driven the run yet. */
  readonly trace: Trace | undefined;
  /** Of this engine. */
  readonly traces: readonly Trace[];
  /** Claimed and not settled, by id. */
  readonly open: ReadonlyMap<string, OpenAttempt>;
  readonly tools: ReadonlyMap<string, Tools>;
}

export interface Traced {
  readonly state: TraceState;
  readonly spans: readonly Span[];
  /** Spans that are too many for one trace. */
  readonly dropped: number;
}

const definedSchema = z.object({
  name: z.string(),
  playbook: z.string(),
  agents: z.array(z.object({ name: z.string(), role: z.string(), model: z.string().optional() })),
  described: z.record(z.string(), z.object({ provider: z.string().optional() })).optional(),
});
const leaseSchema = z.object({ epoch: z.number() });
const claimedSchema = z.object({
  attemptId: z.string(),
  taskId: z.string(),
  kind: z.enum(['turn', 'check']),
  agent: z.string(),
  number: z.number(),
  runtime: z.string(),
});
const announcedSchema = z.object({
  attemptId: z.string(),
  fact: z.object({ session: z.string(), model: z.string().nullable() }),
});
const settledSchema = z.object({
  attemptId: z.string(),
  outcome: z.string(),
  failure: z.string().nullable(),
  usage: usageSchema.nullable(),
});
const publishedSchema = z.object({ summary: z.object({ outcome: z.string() }).optional() });

export function nothingTraced(runId: string, content: boolean): TraceState {
  const none = { run: undefined, trace: undefined, traces: [] };
  return { runId, content, ...none, open: new Map(), tools: new Map() };
}

/**
 * The spans of what happened in a run, each once it has ended, with ids that follow from the run alone. A trace is a part of a
 * segment: no longer than 400 supersteps, and no longer than 30 minutes but for its last wait.
 */
export function trace(before: TraceState, happening: Happening): Traced {
  switch (happening.from) {
    case 'ledger':
      return record(before, happening.event, happening.texts);
    case 'turn': {
      const { attemptId, event } = happening;
      const tools = new Map(before.tools).set(
        attemptId,
        withTool(before.tools.get(attemptId) ?? NO_TOOLS, event, before.content),
      );
      return silent({ ...before, tools });
    }
    case 'node': {
      const spans = nodeSpan(before, happening.epoch, happening.run);
      return { state: { ...before, trace: ending(before.trace, spans) }, spans, dropped: 0 };
    }
  }
}

/** The root of the trace that the engine leaves, or has left. */
export function endTrace(state: TraceState): Span[] {
  const { trace: last, runId, run } = state;
  if (last === undefined) return [];
  const { id, startedAt, lastAt: endedAt, number, epoch, outcome } = last;
  const about = defined({ playbook: run?.playbook, segment: epoch, trace: number, outcome });
  const error = outcome === 'failed' ? outcome : undefined;
  return [
    {
      ...{ id, startedAt, endedAt, above: [], kind: 'trace', error },
      name: run === undefined ? 'squad' : `squad ${run.name}`,
      metadata: { ...base(runId, run?.name), ...about },
    },
  ];
}

function silent(state: TraceState): Traced {
  return { state, spans: [], dropped: 0 };
}

function base(runId: string, run: string | undefined): Metadata {
  return { thread_id: runId, ...defined({ run }) };
}

function record(before: TraceState, event: LedgerEvent, texts: Texts): Traced {
  const begun = begin(before, event);
  const ended = begun.trace?.id === before.trace?.id ? [] : endTrace(before);
  const { state, spans, dropped } = fold(lengthened(begun, event), event, texts);
  return { state, spans: [...ended, ...spans], dropped };
}

/** With the trace that this event belongs to. */
function begin(state: TraceState, event: LedgerEvent): TraceState {
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
  };
  return { ...state, trace: next, traces: epoch === undefined ? [...traces, next] : [next] };
}

function lengthened(state: TraceState, event: LedgerEvent): TraceState {
  const { trace: current } = state;
  if (current === undefined) return state;
  const inputs = current.inputs + (isInput(event) ? 1 : 0);
  return { ...state, trace: { ...current, inputs, lastAt: Math.max(current.lastAt, event.at) } };
}

type Texts = Extract<Happening, { from: 'ledger' }>['texts'];

function fold(state: TraceState, event: LedgerEvent, texts: Texts): Traced {
  switch (event.type) {
    case RUN_EVENTS.defined:
      return silent({ ...state, run: definedSchema.parse(event.data) });
    case RUN_EVENTS.published: {
      const outcome = publishedSchema.safeParse(event.data).data?.summary?.outcome;
      return silent({ ...state, trace: state.trace && { ...state.trace, outcome } });
    }
    case 'attempt-claimed':
      return claimed(state, event);
    case 'session-announced': {
      const { attemptId, fact } = announcedSchema.parse(event.data);
      const attempt = state.open.get(attemptId);
      if (attempt === undefined) return silent(state);
      const { session, model } = fact;
      const metadata = { ...attempt.metadata, session, ...(model === null ? {} : { model }) };
      return silent({ ...state, open: new Map(state.open).set(attemptId, { ...attempt, metadata }) });
    }
    case 'attempt-settled':
      return settled(state, event, texts);
    default:
      return silent(state);
  }
}

/** A decision claims turns; the engine claims checks for its own work. */
function claimed(state: TraceState, event: LedgerEvent): Traced {
  const { trace: root, runId, run } = state;
  if (root === undefined) return silent(state);
  const { attemptId, taskId: task, kind, agent, number, runtime } = claimedSchema.parse(event.data);
  const { role, model } = run?.agents.find(({ name: of }) => of === agent) ?? {};
  const provider = run?.described?.[runtime]?.provider;
  const common = { ...base(runId, run?.name), segment: root.epoch, attempt: attemptId, task };
  const own = { id: spanId(runId, 'run_agent_attempt', attemptId), startedAt: event.at };
  const node = { ...own, above: [ancestor(root)], kind: 'node', name: 'run_agent_attempt', metadata: common } as const;
  const isOwnWork = event.cause === null;
  const above = isOwnWork ? [ancestor(root)] : [ancestor(root), own];
  const attempt: OpenAttempt = {
    ...{ id: spanId(runId, 'attempt', attemptId), startedAt: event.at, above, kind },
    name: run === undefined ? attemptId : attemptWithin(attemptScope(run.name, runId), attemptId),
    metadata: { ...common, agent, number, runtime, ...defined({ role, provider, model }) },
    node: isOwnWork ? undefined : node,
  };
  return silent({ ...state, open: new Map(state.open).set(attemptId, attempt) });
}

function ancestor({ id, startedAt }: Ancestor): Ancestor {
  return { id, startedAt };
}

function settled(state: TraceState, event: LedgerEvent, texts: Texts): Traced {
  const { attemptId, outcome, failure, usage } = settledSchema.parse(event.data);
  const attempt = state.open.get(attemptId);
  if (attempt === undefined) return silent(state);
  const { metadata, node, ...kept } = attempt;
  const content = texts && { input: texts.prompt.slice(0, MOST_TEXT), output: texts.answer.slice(0, MOST_TEXT) };
  const span: Span = {
    ...kept,
    endedAt: Math.max(event.at, attempt.startedAt),
    error: outcome === 'completed' ? undefined : (failure ?? outcome),
    metadata: { ...metadata, outcome, ...(failure === null ? {} : { failure }) },
    ...defined({ usage: usage ?? undefined, content }),
  };
  const [open, tools] = [new Map(state.open), new Map(state.tools)];
  open.delete(attemptId);
  tools.delete(attemptId);
  const used = state.tools.get(attemptId) ?? NO_TOOLS;
  const below = toolSpans(used, span, (id, time) => spanId(state.runId, 'tool', attemptId, id, time));
  return {
    state: { ...state, open, tools },
    spans: [...(node === undefined ? [] : [{ ...node, endedAt: span.endedAt }]), span, ...below],
    dropped: used.left,
  };
}

/** A trace ends no earlier than the nodes in it. */
function ending(current: Trace | undefined, spans: readonly Span[]): Trace | undefined {
  const own = spans.filter(({ above }) => above[0]?.id === current?.id);
  return current && { ...current, lastAt: Math.max(current.lastAt, ...own.map(({ endedAt }) => endedAt)) };
}

/** Below the trace that the node's cursor is in. The node of a claimed attempt follows from its claim. */
function nodeSpan(state: TraceState, epoch: number, run: NodeRun): Span[] {
  const { runId } = state;
  const own = state.traces.filter((one) => one.epoch === epoch);
  const root = own.findLast(({ seq }) => seq <= run.cursor) ?? own[0];
  if (root === undefined || run.node === 'run_agent_attempt') return [];
  const { node, step, cursor, startedAt, endedAt, failed: error } = run;
  const at = Math.max(startedAt, root.startedAt);
  return [
    {
      ...{ id: spanId(runId, 'node', epoch, step, node), startedAt: at, endedAt: Math.max(endedAt, at) },
      ...{ above: [ancestor(root)], kind: 'node', name: node, error: error && plainLine(error, 100) },
      metadata: { ...base(runId, state.run?.name), segment: epoch, superstep: step, cursor },
    },
  ];
}

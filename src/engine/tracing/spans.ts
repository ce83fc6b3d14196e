import { z } from 'zod';
import { INPUTS } from '../../rules/read-input.ts';
import type { NodeRun } from '../../graph/ports.ts';
import { attemptScope, attemptWithin } from '../../model/attempt-id.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import { usageSchema } from '../../model/usage.ts';
import { defined } from '../../text/defined.ts';
import { plainLine } from '../../text/plain-text.ts';
import { spanId, type Ancestor, type Span } from './span.ts';
import { begin, ending, lengthened, release, withBeginning } from './roots.ts';
import { base, definedSchema, type OpenAttempt, type Trace, type Traced, type TraceState } from './trace-state.ts';
import { NO_TOOLS, toolSpans, withTool, type ToolEvent } from './tool-spans.ts';

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

export interface Texts {
  readonly prompt: string;
  readonly answer: string;
}

/** One thing that happened. */
export type Happening =
  /**
   * `texts`: what was asked and answered in the attempt that ended, or in the run; absent: content was not asked for.
   */
  | {
      readonly from: 'ledger';
      readonly event: LedgerEvent;
      readonly texts?: Texts;
    }
  | { readonly from: 'turn'; readonly attemptId: string; readonly event: ToolEvent }
  | { readonly from: 'node'; readonly epoch: number; readonly run: NodeRun };

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
      const root = rootAt(before, happening.epoch, happening.run.cursor);
      if (root === undefined) return silent(before);
      const spans = before.detail ? nodeSpan(before, root, happening.epoch, happening.run) : [];
      // Supersteps follow each other: those of the traces before are over.
      return release({ state: ending(before, spans), spans, dropped: 0 }, root.seq);
    }
  }
}

function silent(state: TraceState): Traced {
  return { state, spans: [], dropped: 0 };
}

function record(before: TraceState, event: LedgerEvent, texts: Texts | undefined): Traced {
  const begun = begin(before, event);
  const isSame = before.trace === undefined || begun.trace?.id === before.trace.id;
  const left = isSame ? before.left : [...before.left, before.trace];
  const traced = withBeginning(fold(lengthened({ ...begun, left }, event), event, texts));
  // The engine before has no node any more.
  return event.type === 'lease-acquired' ? release(traced, event.seq) : traced;
}

function fold(state: TraceState, event: LedgerEvent, texts: Texts | undefined): Traced {
  switch (event.type) {
    case RUN_EVENTS.defined:
      return silent({ ...state, run: definedSchema.parse(event.data), asked: texts?.prompt.slice(0, MOST_TEXT) });
    case RUN_EVENTS.published: {
      const outcome = publishedSchema.safeParse(event.data).data?.summary?.outcome;
      const said = texts?.answer.slice(0, MOST_TEXT);
      return silent({ ...state, trace: state.trace && { ...state.trace, outcome, said } });
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

/**
 * Attempts are below the root, with the nodes of the engine or without: what is sent again has the same place.
 */
function claimed(state: TraceState, event: LedgerEvent): Traced {
  const { trace: root, runId, run } = state;
  if (root === undefined) return silent(state);
  const { attemptId, taskId: task, kind, agent, number, runtime } = claimedSchema.parse(event.data);
  const { role, model } = run?.agents.find(({ name: of }) => of === agent) ?? {};
  const provider = run?.described?.[runtime]?.provider;
  const common = { ...base(runId, run?.name), segment: root.epoch, attempt: attemptId, task };
  const attempt: OpenAttempt = {
    ...{ id: spanId(runId, 'attempt', attemptId), startedAt: event.at, above: [ancestor(root)], kind },
    name: run === undefined ? attemptId : attemptWithin(attemptScope(run.name, runId), attemptId),
    metadata: { ...common, agent, number, runtime, ...defined({ role, provider, model }) },
  };
  return silent({ ...state, open: new Map(state.open).set(attemptId, attempt) });
}

function ancestor({ id, startedAt }: Ancestor): Ancestor {
  return { id, startedAt };
}

function settled(state: TraceState, event: LedgerEvent, texts: Texts | undefined): Traced {
  const { attemptId, outcome, failure, usage } = settledSchema.parse(event.data);
  const attempt = state.open.get(attemptId);
  if (attempt === undefined) return silent(state);
  const { metadata, ...kept } = attempt;
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
    state: ending({ ...state, open, tools }, [span]),
    spans: [span, ...below],
    dropped: used.left,
  };
}

/** The trace that a node's cursor is in. */
function rootAt({ traces }: TraceState, epoch: number, cursor: number): Trace | undefined {
  const own = traces.filter((one) => one.epoch === epoch);
  return own.findLast(({ seq }) => seq <= cursor) ?? own[0];
}

/** The node of a claimed attempt is that attempt. */
function nodeSpan({ runId, run: of }: TraceState, root: Trace, epoch: number, run: NodeRun): Span[] {
  if (run.node === 'run_agent_attempt') return [];
  const { node, step, cursor, startedAt, endedAt, failed: error } = run;
  const at = Math.max(startedAt, root.startedAt);
  return [
    {
      ...{ id: spanId(runId, 'node', epoch, step, node), startedAt: at, endedAt: Math.max(endedAt, at) },
      ...{ above: [ancestor(root)], kind: 'node', name: node, error: error && plainLine(error, 100) },
      metadata: { ...base(runId, of?.name), segment: epoch, superstep: step, cursor },
    },
  ];
}

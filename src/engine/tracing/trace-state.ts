import { z } from 'zod';
import { defined } from '../../text/defined.ts';
import type { Ancestor, Span } from './span.ts';
import type { Tools } from './tool-spans.ts';

export interface Trace extends Ancestor {
  readonly epoch: number;
  /** The event it begins with. */
  readonly seq: number;
  readonly number: number;
  readonly lastAt: number;
  readonly inputs: number;
  readonly outcome: string | undefined;
  /** The run's last word. */
  readonly said: string | undefined;
}

export type Metadata = Span['metadata'];

export interface OpenAttempt extends Ancestor {
  readonly above: readonly Ancestor[];
  readonly name: string;
  readonly kind: 'turn' | 'check';
  readonly metadata: Metadata;
}

/** Everything so far that later spans depend on. */
export interface TraceState {
  readonly runId: string;
  readonly content: boolean;
  /** With the nodes of the engine. */
  readonly detail: boolean;
  readonly run: z.infer<typeof definedSchema> | undefined;
  /** The objective; undefined: content was not asked for. */
  readonly asked: string | undefined;
  /** undefined: no engine has driven the run yet. */
  readonly trace: Trace | undefined;
  /** The last trace whose beginning was given. */
  readonly begun: string | undefined;
  /** Traces of this engine. */
  readonly traces: readonly Trace[];
  /** Those that were left, and whose last attempt or node may end later. */
  readonly left: readonly Trace[];
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

export const definedSchema = z.object({
  name: z.string(),
  playbook: z.string(),
  promptHash: z.string().optional(),
  agents: z.array(
    z.object({ name: z.string(), role: z.string(), runtime: z.string().optional(), model: z.string().optional() }),
  ),
  described: z.record(z.string(), z.object({ provider: z.string().optional() })).optional(),
});

/** `content` and `detail`: what was asked for besides ids, names, times, outcomes and use of turns and tools. */
export function nothingTraced(runId: string, content: boolean, detail = false): TraceState {
  const none = { run: undefined, asked: undefined, trace: undefined, begun: undefined, traces: [], left: [] };
  return { runId, content, detail, ...none, open: new Map(), tools: new Map() };
}

export function base(runId: string, run: string | undefined): Metadata {
  return { thread_id: runId, ...defined({ run }) };
}

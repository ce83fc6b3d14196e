import type { Composition, Host } from './compose.ts';
import { isSquadError } from '../model/errors.ts';
import type { RunEvent } from '../model/run-event.ts';
import type { RunDefinition } from '../model/run.ts';
import type { TracingEnd } from '../model/tracing.ts';
import { letThroughBy } from '../model/let-through.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import { placeOf, traceTarget, type TraceOption, type TraceTarget } from './tracing/target.ts';
import type { Tracer } from './tracing/tracer.ts';
import type { Segment } from './run-loop.ts';

/** How long a run that has ended waits for the endpoint. */
const EXIT_MS = 600;

/** Where the traces of a segment go. Both absent: no one asked for any. */
export interface SegmentTracing {
  readonly target?: TraceTarget;
  /** Why none are sent, although the run's settings ask for them. */
  readonly untraced?: string;
}

/** The tracer of a segment whose traces are sent. */
export interface SegmentTracer extends Tracer {
  /** Sends what is left, in a bounded time, and reports the result. */
  end(): Promise<void>;
}

/** Throws `wrong-environment` if the caller asks for traces that cannot be sent. */
export function tracingOf(
  { host, trace }: { readonly host: Host; readonly trace?: TraceOption },
  { tracing }: RunDefinition,
): SegmentTracing {
  const asked = trace ?? tracing?.to;
  if (asked === undefined) return {};
  try {
    return { target: traceTarget(asked, tracing, host.environment) };
  } catch (error) {
    // The settings are those of everyone who works on the repository, and not everyone has a key.
    if (trace !== undefined || !isSquadError(error)) throw error;
    return { untraced: `no traces are sent: ${error.message}` };
  }
}

/** Loads the code for traces only if they are sent, and reports where to. */
export async function openTracing(
  ports: Pick<Composition, 'redactor' | 'clock'> & SegmentTracing & { readonly traceDetail?: boolean },
  ledger: Ledger,
  { definition, lease }: { readonly definition: RunDefinition; readonly lease: Lease },
  report: (event: RunEvent) => void,
): Promise<SegmentTracer | undefined> {
  const { clock, target, traceDetail: detail = false } = ports;
  if (target === undefined) return undefined;
  const { createSender } = await import('./tracing/sender.ts');
  const { createTracer } = await import('./tracing/tracer.ts');
  const { endTraces } = await import('./tracing/trace-end.ts');
  const say = (state: 'begun' | 'ended', more: Partial<TracingEnd>): void =>
    report({ type: 'tracing', at: clock.now(), runId: lease.runId, state, ...placeOf(target), ...more });
  const own = { ledger, redactor: ports.redactor(letThroughBy(definition)), sender: createSender(target) };
  say('begun', {});
  const tracer = createTracer(own, lease, { content: target.content, detail });
  return { ...tracer, end: async () => say('ended', await endTraces(target, tracer.close(EXIT_MS))) };
}

/** The segment, whose tracer reads the ledger for the last time before anyone hears of the end. */
export function withLastLook(segment: Segment, tracer: Tracer | undefined): Segment {
  return tracer === undefined ? segment : { ...segment, done: segment.done.finally(() => tracer.finish()) };
}

/** Settles as `end` does, but only once the remaining spans are sent or their time is over. */
export async function afterTraces<T>(end: Promise<T>, tracer: SegmentTracer | undefined): Promise<T> {
  if (tracer === undefined) return end;
  try {
    return await end;
  } finally {
    await tracer.end();
  }
}

import type { Composition, Host } from './compose.ts';
import { isSquadError } from '../model/errors.ts';
import type { RunDefinition } from '../model/run.ts';
import { letThroughBy } from '../model/let-through.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import { counted } from '../text/counted.ts';
import { traceTarget, type TraceOption, type TraceTarget } from './tracing/target.ts';
import type { Tracer } from './tracing/tracer.ts';
import type { Segment } from './run-loop.ts';

/** Where the traces of a segment go. Both absent: no one asked for any. */
export interface SegmentTracing {
  readonly target?: TraceTarget;
  /** Why none are sent, although the run's settings ask for them. */
  readonly untraced?: string;
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

/** Loads the code for traces only if they are sent. */
export async function openTracer(
  { redactor }: Pick<Composition, 'redactor'>,
  ledger: Ledger,
  { definition, lease }: { readonly definition: RunDefinition; readonly lease: Lease },
  target: TraceTarget | undefined,
): Promise<Tracer | undefined> {
  if (target === undefined) return undefined;
  const { createSender } = await import('./tracing/sender.ts');
  const { createTracer } = await import('./tracing/tracer.ts');
  const ports = { ledger, redactor: redactor(letThroughBy(definition)), sender: createSender(target) };
  return createTracer(ports, lease, target.content);
}

/** The segment, whose tracer reads the ledger for the last time before anyone hears of the end. */
export function withLastLook(segment: Segment, tracer: Tracer | undefined): Segment {
  return tracer === undefined ? segment : { ...segment, done: segment.done.finally(() => tracer.finish()) };
}

/** Settles as `end` does, but only once the remaining spans are sent or their time is over. Warns about dropped spans. */
export async function afterTraces<T>(
  end: Promise<T>,
  tracer: Tracer | undefined,
  warn: (text: string) => void,
): Promise<T> {
  if (tracer === undefined) return end;
  try {
    return await end;
  } finally {
    const { sent, dropped, why } = await tracer.close();
    if (dropped > 0)
      warn(`tracing: ${counted(sent, 'span')} sent, ${dropped} dropped: ${why ?? 'the reason is unknown'}`);
  }
}

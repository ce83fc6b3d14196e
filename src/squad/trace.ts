import { SquadError } from '../model/errors.ts';
import type { SinkName, TracedPlace, TracingEnd } from '../model/tracing.ts';
import { letThroughBy } from '../model/let-through.ts';
import { viewOf } from '../view/view-of.ts';
import { createSender } from '../engine/tracing/sender.ts';
import type { Span } from '../engine/tracing/span.ts';
import { placeOf, traceTarget } from '../engine/tracing/target.ts';
import { endTraces } from '../engine/tracing/trace-end.ts';
import { sendRun } from '../engine/tracing/tracer.ts';
import { openRun } from './open-run.ts';
import { withLedger, type Place } from './open-workspace.ts';

/** How long it waits for the scores and the address of the page. */
const END_MS = 10_000;

export interface TracedRun extends TracingEnd, TracedPlace {
  readonly runId: string;
  readonly name: string;
}

/** Sends the spans of a run that the ledger knows. Throws `workspace-busy` while an engine drives it. */
export async function traceRun(
  place: Place,
  run: string | undefined,
  { to: asked }: { readonly to?: SinkName | undefined },
): Promise<TracedRun> {
  const opened = await openRun(place, run);
  const { host, composition, reading } = opened;
  const { row, definition, driven } = reading;
  const { id: runId, name } = row;
  if (driven) throw stillRunning(name);
  const target = traceTarget(asked ?? true, definition.tracing, host.environment);
  return withLedger(opened, 'read', async (ledger) => {
    const redactor = composition.redactor(letThroughBy(definition));
    const sender = createSender(target);
    let root: string | undefined;
    const push = (spans: readonly Span[]): void => {
      root = spans.findLast(({ above }) => above.length === 0)?.id ?? root;
      sender.push(spans);
    };
    const sent = await sendRun({ ledger, redactor, sender: { ...sender, push } }, runId, target.content);
    const view = sent.dropped > 0 ? undefined : viewOf(reading, { now: composition.clock.now() });
    const late = AbortSignal.timeout(END_MS);
    const end = await endTraces(target, { root, view, sent: Promise.resolve(sent), late });
    return { runId, name, ...placeOf(target), ...end };
  });
}

function stillRunning(name: string): SquadError {
  return new SquadError({
    code: 'workspace-busy',
    message: `${name} is running, and its spans are not complete`,
    next: `Run \`squad trace ${name}\` after its end, or start runs with \`--trace\`.`,
  });
}

import { SquadError } from '../model/errors.ts';
import type { SinkName } from '../model/tracing.ts';
import { letThroughBy } from '../model/let-through.ts';
import { viewOf } from '../view/view-of.ts';
import { scoresOf, sendScores } from '../engine/tracing/scores.ts';
import { createSender, type Sent } from '../engine/tracing/sender.ts';
import type { Span } from '../engine/tracing/span.ts';
import { traceTarget } from '../engine/tracing/target.ts';
import { sendRun } from '../engine/tracing/tracer.ts';
import { openRun } from './open-run.ts';
import { withLedger, type Place } from './open-workspace.ts';

export interface TracedRun extends Sent {
  readonly runId: string;
  readonly name: string;
  readonly to: SinkName;
  /** Without its path, which may hold a key. */
  readonly endpoint: string;
  /** Scores that LangSmith got: of the outcome, and of the criteria. OTLP takes none. */
  readonly scored: number;
  /** Why scores could not be sent; absent: none was left. */
  readonly unscored?: string;
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
    let root: Span | undefined;
    const push = (spans: readonly Span[]): void => {
      root = spans.findLast(({ above }) => above.length === 0) ?? root;
      sender.push(spans);
    };
    const sent = await sendRun({ ledger, redactor, sender: { ...sender, push } }, runId, target.content);
    const about = { runId, name, to: target.to, endpoint: new URL(target.url).origin, ...sent, scored: 0 };
    if (target.to !== 'langsmith' || sent.dropped > 0 || root === undefined) return about;
    const { end, plan } = viewOf(reading, { now: composition.clock.now() });
    const scores = scoresOf(end?.outcome, plan.criteria);
    const unscored = await sendScores(target, root, scores);
    return unscored === undefined ? { ...about, scored: scores.length } : { ...about, unscored };
  });
}

function stillRunning(name: string): SquadError {
  return new SquadError({
    code: 'workspace-busy',
    message: `${name} is running, and its spans are not complete`,
    next: `Run \`squad trace ${name}\` after its end, or start runs with \`--trace\`.`,
  });
}

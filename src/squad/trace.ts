import { SquadError } from '../model/errors.ts';
import type { SinkName } from '../model/tracing.ts';
import { letThroughBy } from '../model/let-through.ts';
import { openLedger } from '../substrate/ledger/index.ts';
import { createSender, type Sent } from '../tracing/sender.ts';
import { traceTarget } from '../tracing/target.ts';
import { sendRun } from '../tracing/tracer.ts';
import { openRun, type Place } from './open-run.ts';

/** What was sent of a run. */
export interface TracedRun extends Sent {
  readonly runId: string;
  readonly name: string;
  readonly to: SinkName;
  /** Without its path, which may hold a key. */
  readonly endpoint: string;
}

/** Sends the spans of a run that the ledger knows. Throws `workspace-busy` while an engine drives it. */
export async function traceRun(
  place: Place,
  run: string | undefined,
  { to: asked }: { readonly to?: SinkName | undefined },
): Promise<TracedRun> {
  const { host, composition, directory, reading } = await openRun(place, run);
  const { row, definition, driven } = reading;
  const { id: runId, name } = row;
  if (driven) throw isDriven(name);
  const target = traceTarget(asked ?? true, definition.tracing, host.environment);
  const ledger = openLedger(directory, { clock: composition.clock, readOnly: true });
  try {
    const redactor = composition.redactor(letThroughBy(definition));
    const sent = await sendRun({ ledger, redactor, sender: createSender(target) }, runId, target.content);
    return { runId, name, to: target.to, endpoint: new URL(target.url).origin, ...sent };
  } finally {
    ledger.close();
  }
}

function isDriven(name: string): SquadError {
  return new SquadError({
    code: 'workspace-busy',
    message: `${name} is running, and its spans are not complete`,
    next: `Run \`squad trace ${name}\` after its end, or start runs with \`--trace\`.`,
  });
}

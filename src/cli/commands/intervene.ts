import { SquadError } from '../../model/errors.ts';
import { WHOLE_RUN, type Intervention } from '../../model/plan/intervention.ts';
import { plainJson } from '../../text/json.ts';
import { requestRefusal } from '../../read-model/requests.ts';
import { isOver } from '../../read-model/read-run.ts';
import { openLedger } from '../../substrate/ledger/index.ts';
import type { CommandContext, InterveneOptions } from '../command-context.ts';
import { openRun, type OpenedRun } from '../open-run.ts';
import { operatorOf } from '../host.ts';
import { plainLine } from '../../text/plain-text.ts';

/** An engine reads a command within a quarter of a second, unless it is in the middle of a step. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 50;

/**
 * Stores a person's command and waits until the run's engine, if one is running, has applied it. A command that the run
 * cannot carry out now is refused with exit 2, and nothing is stored.
 */
export async function intervene(
  context: CommandContext,
  name: string | undefined,
  intervention: Intervention,
  options: InterveneOptions,
): Promise<void> {
  const run = await openRun(context, name);
  const { row, driven } = run.reading;
  const refused = requestRefusal(run.reading, intervention);
  if (refused !== undefined) {
    throw new SquadError({
      code: 'usage',
      message: refused,
      next: `See the run with \`squad status ${row.name}\`.`,
    });
  }
  const by = operatorOf(context.host);
  const { seq, heard } = await record(run, intervention, by);
  if (options.json === true) {
    const { verb } = intervention;
    context.output.json({
      type: 'intervened',
      at: run.now,
      runId: row.id,
      name: row.name,
      verb,
      by,
      seq,
      driven,
      heard,
    });
    return;
  }
  context.output.line(`${row.name}: ${plainLine(sayWhat(intervention), 200)}`);
  const pendingRequests = [...run.reading.pendingRequests, { seq, at: run.now, by, intervention }];
  if (!driven && isOver({ ...run.reading, pendingRequests })) {
    context.output.line('The run is over. This takes effect once you retry a task with `squad retry`.');
    return;
  }
  if (!driven)
    context.output.line(needsEngine(intervention) ? `Next: squad resume ${row.name}` : 'No engine is running for it.');
  else if (!heard) context.output.line('Its engine is busy and applies this after its current step.');
}

async function record(
  { directory, composition, reading }: OpenedRun,
  intervention: Intervention,
  by: string,
): Promise<{ seq: number; heard: boolean }> {
  const { row, driven } = reading;
  const ledger = openLedger(directory, composition);
  try {
    const { verb, ...data } = intervention;
    const { seq } = ledger.command(row.id, verb, plainJson(data), by);
    const isApplied = (): boolean => (ledger.run(row.id)?.applied ?? 0) >= seq;
    const until = composition.clock.monotonic() + (driven ? PATIENCE_MS : 0);
    while (!isApplied() && composition.clock.monotonic() < until) await composition.clock.sleep(LOOK_MS);
    return { seq, heard: isApplied() };
  } finally {
    ledger.close();
  }
}

/** A pause takes effect without an engine. */
function needsEngine({ verb }: Intervention): boolean {
  return verb !== 'pause' && verb !== 'drain' && verb !== 'stop';
}

function sayWhat(intervention: Intervention): string {
  switch (intervention.verb) {
    case 'pause':
      return `${scopeName(intervention.on)} is paused. Running turns finish; no new ones start.`;
    case 'resume':
      return `${scopeName(intervention.on)} is resumed`;
    case 'drain':
      return 'no new turns start; the engine ends once the running ones have finished';
    case 'stop':
      return 'is stopped';
    case 'cancel':
      return `${scopeName(intervention.on)} is cancelled`;
    case 'retry':
      return `${intervention.task} is retried${intervention.fresh ? ' in a new session and a fresh folder' : ''}`;
    case 'skip':
      return `${intervention.task} is skipped; tasks that need it start without it`;
    case 'override':
      return `${intervention.task} is ${intervention.as}, because you say so`;
    case 'switch':
      return `${scopeName(intervention.on)} uses ${intervention.runtime} from its next turn on`;
    case 'reload':
      return 'uses setup, verify and limits from squad.yaml as it is now';
    default:
      return intervention satisfies never;
  }
}

function scopeName(scope: string): string {
  return scope === WHOLE_RUN ? 'the run' : scope.replace('/', ' ');
}

import { SquadError } from '../../model/errors.ts';
import { WHOLE_RUN, type Intervention } from '../../model/plan/intervention.ts';
import { plainJson } from '../../text/json.ts';
import { requestRefusal } from '../../read-model/requests.ts';
import { isOver } from '../../read-model/read-run.ts';
import { openLedger } from '../../substrate/ledger/index.ts';
import type { CommandContext, InterveneOptions } from '../command-context.ts';
import { openRun, type OpenedRun } from '../open-run.ts';
import { operatorOf } from '../operator.ts';
import { plainLine } from '../../text/plain-text.ts';

/** An engine hears a command within a quarter of a second; a step that it is in the middle of may take longer. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 50;

/**
 * Stores what a person wants, and waits until the run's engine has decided on it, where one lives. What is not possible as
 * the run stands is refused with exit 2, and nothing is stored.
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
      next: `See where it stands: \`squad status ${row.name}\`.`,
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
    context.output.line('The run is over: that counts once a task of it is tried again, with `squad retry`.');
    return;
  }
  if (!driven)
    context.output.line(needsEngine(intervention) ? `Next: squad resume ${row.name}` : 'No engine drives it.');
  else if (!heard) context.output.line('Its engine is busy, and will hear it when its step is over.');
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
    const isHeard = (): boolean => (ledger.run(row.id)?.applied ?? 0) >= seq;
    const until = composition.clock.monotonic() + (driven ? PATIENCE_MS : 0);
    while (!isHeard() && composition.clock.monotonic() < until) await composition.clock.sleep(LOOK_MS);
    return { seq, heard: isHeard() };
  } finally {
    ledger.close();
  }
}

/** Holding back needs nobody to carry it out. */
function needsEngine({ verb }: Intervention): boolean {
  return verb !== 'pause' && verb !== 'drain' && verb !== 'stop';
}

function sayWhat(intervention: Intervention): string {
  switch (intervention.verb) {
    case 'pause':
      return `${scopeName(intervention.on)} is paused: what lives may end, nothing new starts`;
    case 'resume':
      return `${scopeName(intervention.on)} goes on`;
    case 'drain':
      return 'nothing new starts; once nothing lives its engine ends';
    case 'stop':
      return 'is stopped';
    case 'cancel':
      return `${scopeName(intervention.on)} is cancelled`;
    case 'retry':
      return `${intervention.task} is tried again${intervention.fresh ? ', in a new session and a fresh folder' : ''}`;
    case 'skip':
      return `${intervention.task} is skipped; what needs it goes on without it`;
    case 'override':
      return `${intervention.task} counts as ${intervention.as}, on your word`;
    case 'switch':
      return `${scopeName(intervention.on)} is taken over by ${intervention.runtime}, from its next turn on`;
    case 'reload':
      return 'setup, verify and limits are as squad.yaml has them now';
    default:
      return intervention satisfies never;
  }
}

function scopeName(scope: string): string {
  return scope === WHOLE_RUN ? 'the run' : scope.replace('/', ' ');
}

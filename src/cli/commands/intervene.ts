import { usageError } from '../../model/errors.ts';
import { WHOLE_RUN, type Intervention } from '../../model/plan/intervention.ts';
import { plainJson } from '../../text/json.ts';
import { requestRefusal, type OperatorRequest } from '../../read-model/replay-plan.ts';
import { isOver } from '../../read-model/read-run.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { openRun, writeLedger, type OpenedRun } from '../open-run.ts';
import { printResult } from '../output.ts';
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
  options: JsonOptions,
): Promise<void> {
  const run = await openRun(context, name);
  const { row, driven } = run.reading;
  const refused = requestRefusal(run.reading, intervention);
  if (refused !== undefined) throw usageError(refused, `See the run with \`squad status ${row.name}\`.`);
  const by = operatorOf(context.host);
  const { seq, heard } = await record(run, intervention, by);
  const { id: runId, name: runName } = row;
  const { verb } = intervention;
  const found = { type: 'intervened', at: run.now, runId, name: runName, verb, by, seq, driven, heard };
  printResult(context.output, options, found, [
    `${runName}: ${plainLine(sayWhat(intervention), 200)}`,
    ...nextLine(run, { seq, at: run.now, by, intervention }, heard),
  ]);
}

function nextLine({ reading }: OpenedRun, request: OperatorRequest, heard: boolean): string[] {
  const pendingRequests = [...reading.pendingRequests, request];
  if (reading.driven) return heard ? [] : ['Its engine is busy and applies this after its current step.'];
  if (isOver({ ...reading, pendingRequests })) {
    return ['The run is over. This takes effect once you retry a task with `squad retry`.'];
  }
  return [
    needsEngine(request.intervention) ? `Next: squad resume ${reading.row.name}` : 'No engine is running for it.',
  ];
}

async function record(
  run: OpenedRun,
  intervention: Intervention,
  by: string,
): Promise<{ seq: number; heard: boolean }> {
  const { row, driven } = run.reading;
  const { clock } = run.composition;
  return writeLedger(run, async (ledger) => {
    const { verb, ...data } = intervention;
    const { seq } = ledger.command(row.id, verb, plainJson(data), by);
    const isApplied = (): boolean => (ledger.run(row.id)?.applied ?? 0) >= seq;
    const until = clock.monotonic() + (driven ? PATIENCE_MS : 0);
    while (!isApplied() && clock.monotonic() < until) await clock.sleep(LOOK_MS);
    return { seq, heard: isApplied() };
  });
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

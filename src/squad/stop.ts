import { join } from 'node:path';
import { SquadError, usageError } from '../model/errors.ts';
import { isDriven } from '../view/driven.ts';
import { isOver, runIsOver } from '../view/read-run.ts';
import { loadEngine } from './load-engine.ts';
import { findCommand, storedKey, type CommandOptions } from './command-key.ts';
import { operatorOf } from './machine.ts';
import { openRun, type OpenedRun } from './open-run.ts';
import { lookIn, withLedger, type Place } from './open-workspace.ts';

/** A stopped run. */
export interface Stopped {
  readonly runId: string;
  readonly name: string;
  /** The attempts that it ended. */
  readonly ended: readonly string[];
  /** The run has finished: there is nothing to continue. */
  readonly over: boolean;
}

/** A running engine has ten seconds to end its turns, and then writes its report. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 200;

/** How `stop` waits, and what makes it safe to repeat. */
export interface StopOptions extends CommandOptions {
  /** Called while the engine ends that many attempts. */
  readonly onWait?: ((attempts: number) => void) | undefined;
}

/** Ends the turns of a run, through its engine if one is running. Throws `usage` if the run is over: it can have no turns. */
export async function stop(
  place: Place,
  name: string | undefined,
  { onWait, key }: StopOptions = {},
): Promise<Stopped> {
  const run = await openRun(place, name);
  if (name === undefined) refuseSeveral(run);
  const { row, driven, published } = run.reading;
  const stored = storedKey(row.id, key);
  if (isOver(run.reading)) {
    // A stop that is stored was carried out before the run ended.
    if (findCommand(run, stored) === undefined) throw runIsOver(row.name);
    return { runId: row.id, name: row.name, ended: [], over: true };
  }
  const ended = driven ? await stopEngine(run, stored, onWait) : await halt(run, stored);
  return { runId: row.id, name: row.name, ended, over: published !== undefined };
}

/** Without a name, only the one run that is running can be meant. */
function refuseSeveral(run: OpenedRun): void {
  const running = lookIn(run, (ledger, lockedBy) =>
    ledger.runs().filter(({ id }) => isDriven(ledger.segments(id), lockedBy)),
  );
  if (running === undefined || running.length < 2) return;
  const names = running.map(({ name }) => name);
  throw usageError(`${names.length} runs are running: ${names.join(', ')}`, `Name one: \`squad stop ${names[0]}\`.`);
}

async function halt({ composition, host, reading }: OpenedRun, key: string | undefined): Promise<string[]> {
  const { haltRun } = await loadEngine();
  return haltRun({ ...composition, host }, host.workingDirectory, reading.row.id, operatorOf(host), key);
}

async function stopEngine(run: OpenedRun, key: string | undefined, onWait: StopOptions['onWait']): Promise<string[]> {
  const { id, name } = run.reading.row;
  const { clock } = run.composition;
  const ended = await withLedger(run, 'write', async (ledger) => {
    ledger.command(id, 'stop', {}, operatorOf(run.host), key);
    const live = ledger.attempts({ runId: id }).filter(({ status }) => status !== 'settled');
    for (const until = clock.monotonic() + PATIENCE_MS; clock.monotonic() < until;) {
      await clock.sleep(LOOK_MS);
      if (ledger.segments(id).at(-1)?.releasedAt !== null) return live.map((attempt) => attempt.id);
      onWait?.(live.length);
    }
    return undefined;
  });
  if (ended !== undefined) return ended;
  throw new SquadError({
    code: 'workspace-busy',
    message: `the engine of ${name} did not end within ${PATIENCE_MS / 1000} s`,
    next: `End the process that ${join(run.directory, 'lock.json')} names, then run \`squad stop\` again.`,
  });
}

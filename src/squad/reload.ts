import { SquadError } from '../model/errors.ts';
import { readReload } from './preflight/reload.ts';
import { plainJson } from '../text/json.ts';
import { placedAt } from '../model/run.ts';
import { isOver, runIsOver } from '../view/read-run.ts';
import { findCommand, storedKey, type CommandOptions } from './command-key.ts';
import { operatorOf } from './machine.ts';
import { consentOf, type TrustOption } from './new-run.ts';
import { keepConsent } from './run-consent.ts';
import { openRun } from './open-run.ts';
import { withLedger, type Place } from './open-workspace.ts';

/** Effect of a reload on a run. */
export interface Reloaded {
  readonly runId: string;
  readonly name: string;
  /** The new values, as text for people. Empty: `squad.yaml` has nothing new for the run. */
  readonly changed: readonly string[];
  /** Commands of success criteria that are new in the objective’s file, as text for people. */
  readonly criteria: readonly string[];
  /** Settings that differ in `squad.yaml` and stay as they are in the run, because its plan was made with them. */
  readonly kept: readonly string[];
}

/**
 * Makes a run use `setup`, `verify` and limits as squad.yaml has them now, and the commands of its success criteria as the objective’s
 * file has them, once someone has agreed to new commands.
 */
export async function reload(
  place: Place,
  name: string | undefined,
  { trust, key }: TrustOption & CommandOptions,
): Promise<Reloaded> {
  const opened = await openRun(place, name);
  const { host, composition, reading } = opened;
  const { row, definition, limits, driven } = reading;
  if (driven) {
    throw new SquadError({
      code: 'workspace-busy',
      message: `${row.name} is running with the settings that it began with`,
      next: `Stop it first: \`squad stop ${row.name}\`.`,
    });
  }
  const stored = storedKey(row.id, key);
  // One that is stored was checked, and the run may have ended since.
  if (findCommand(opened, stored) === undefined && isOver(reading)) throw runIsOver(row.name);
  const ports = { ...composition, host, ...consentOf(trust) };
  const {
    reload: found,
    changed,
    criteria,
    kept,
  } = await readReload(ports, placedAt(definition, opened.repository.root), limits, {
    repository: opened.repository,
    yes: trust === 'yes',
  });
  if (found !== undefined) {
    const { verb, ...data } = found;
    const amend = async () =>
      withLedger(opened, 'write', (ledger) => ledger.command(row.id, verb, plainJson(data), operatorOf(host), stored));
    await keepConsent(opened, row.id, amend, () => row.id);
  }
  return { runId: row.id, name: row.name, changed, criteria, kept };
}

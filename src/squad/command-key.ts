import { sha256Of } from '../model/sha256.ts';
import { isJsonObject } from '../text/json.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import type { OpenedRun } from './open-run.ts';
import { lookIn } from './open-workspace.ts';

/** Options of a command to a run. */
export interface CommandOptions {
  /** Your own name of this command, unique in the run. A second one with it is the first, and nothing is stored again. */
  readonly key?: string | undefined;
}

/** As stored: a key of a caller may be long or secret. */
export function storedKey(runId: string, key: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  return sha256Of(`squad-command\0${runId}\0${key}`).slice(0, 32);
}

/** The command of the run that has this stored key. */
export function findCommand(run: OpenedRun, key: string | undefined): LedgerEvent | undefined {
  if (key === undefined) return undefined;
  return lookIn(run, (ledger) => commandsOf(ledger, run.reading.row.id).find((command) => keyIn(command) === key));
}

/** Oldest first. */
export function commandsOf(ledger: Pick<Ledger, 'events'>, runId: string): readonly LedgerEvent[] {
  return ledger.events({ stream: runId, types: ['operator-command'] });
}

export function keyIn({ data }: Pick<LedgerEvent, 'data'>): string | undefined {
  const key = isJsonObject(data) ? data['key'] : undefined;
  return typeof key === 'string' ? key : undefined;
}

import { findDefinition } from '../read-model/read-run.ts';
import type { ReplayDifference } from '../read-model/replay-steps.ts';
import { openLedger } from '../substrate/ledger/index.ts';
import { loadEngine } from './load-engine.ts';
import { openRun, type Place } from './open-run.ts';

/** What this version of squad would decide, from the recorded inputs of a run. */
export interface Replay {
  readonly runId: string;
  readonly name: string;
  /** Steps that were decided again. */
  readonly steps: number;
  /** Empty: it decides the same. */
  readonly differences: readonly ReplayDifference[];
}

/** Plays the recorded results of a run through its graph. Starts no agent and writes nothing. */
export async function replay(place: Place, run: string | undefined): Promise<Replay> {
  const loading = loadEngine();
  const { directory, composition, reading } = await openRun(place, run);
  const { replayRun } = await loading;
  const ledger = openLedger(directory, { clock: composition.clock, readOnly: true });
  try {
    const { row } = reading;
    const found = await replayRun(composition, ledger, row, findDefinition(ledger, row) ?? reading.definition);
    return { runId: row.id, name: row.name, ...found };
  } finally {
    ledger.close();
  }
}

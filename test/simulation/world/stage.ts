import { hasLedger, openLedger } from '../../../src/substrate/ledger/index.ts';
import type { Ledger } from '../../../src/substrate/ports/ledger.ts';
import type { VirtualTime } from '../../support/virtual-time.ts';
import type { SimulatedRepository } from './simulated-repository.ts';

/** What people and agents of a world have at hand beside an engine. */
export interface Stage {
  readonly time: VirtualTime;
  readonly repository: SimulatedRepository;
  readonly run: { readonly id: string; readonly name: string };
  /** As any process at this machine opens it, whether an engine lives or not; undefined: there is none yet. */
  ledger(): Ledger | undefined;
}

export function setStage(
  run: Stage['run'],
  folder: string,
  time: VirtualTime,
  repository: SimulatedRepository,
): Stage & { close(): void } {
  let ledger: Ledger | undefined;
  return {
    time,
    repository,
    run,
    ledger: () => {
      if (ledger === undefined && hasLedger(folder)) ledger = openLedger(folder, { clock: time.clock() });
      return ledger;
    },
    close: () => ledger?.close(),
  };
}

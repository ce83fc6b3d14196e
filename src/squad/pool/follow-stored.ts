import { join } from 'node:path';
import type { RunEvent } from '../../model/run-event.ts';
import { openLedger } from '../../substrate/ledger/index.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import type { PoolRun, PoolStore } from '../../substrate/ports/pool.ts';
import { deleteFolder } from '../../substrate/system/files/remove-tree.ts';
import { openRunEvents } from '../../view/run-events.ts';
import { stateIn } from '../moving/take-over.ts';
import { layOutStored } from './replica.ts';

interface StoredEvents {
  /** Those since the last look. Calls must not overlap. */
  look(): Promise<RunEvent[]>;
  /** Also deletes the folder. */
  close(): Promise<void>;
}

/** The events of a run of the pool as bundles bring them, from its newest engine on. `folder`: a new one, for copies of the ledger. */
export function followStored(
  { store, clock }: { readonly store: PoolStore; readonly clock: Clock },
  run: PoolRun,
  folder: string,
): StoredEvents {
  let current: { readonly ledger: Ledger; readonly number: number } | undefined;
  let view: ReturnType<typeof openRunEvents> | undefined;
  const take = async (): Promise<boolean> => {
    const stored = await store.bundle(run.id, current?.number);
    if (stored === undefined) return false;
    const place = join(folder, String(stored.number));
    await layOutStored(store, run, stored, place);
    const before = current;
    current = { ledger: openLedger(stateIn(place), { clock, readOnly: true }), number: stored.number };
    before?.ledger.close();
    if (before !== undefined) await deleteFolder(join(folder, String(before.number)));
    return true;
  };
  const ledger = (): Ledger => {
    if (current === undefined) throw new Error('no bundle was read');
    return current.ledger;
  };
  // One cursor over the copies: each continues the records of the one before.
  const open = () =>
    openRunEvents(
      {
        events: (query) => ledger().events(query),
        settlement: (...given) => ledger().settlement(...given),
        mail: {
          message: (...given) => ledger().mail.message(...given),
          bodyOf: (...given) => ledger().mail.bodyOf(...given),
        },
      },
      run.id,
      { epoch: ledger().segments(run.id).at(-1)?.epoch },
    );
  return {
    look: async () => {
      if (!(await take())) return [];
      view ??= open();
      return view.look();
    },
    close: async () => {
      current?.ledger.close();
      await deleteFolder(folder);
    },
  };
}

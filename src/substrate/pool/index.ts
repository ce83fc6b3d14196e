import type { Clock } from '../ports/clock.ts';
import type { PoolStore } from '../ports/pool.ts';
import type { Trigger } from '../ports/trigger.ts';
import { poolAddress } from './address.ts';
import { openDatabase } from './database.ts';
import { prepareSchema } from './schema.ts';
import { createPoolStore } from './store.ts';
import { createTrigger } from './trigger.ts';

export interface OpenedPool {
  /** For people: without the password. */
  readonly shown: string;
  readonly store: PoolStore;
  /** Opened by its first use, because those who only read need none. `watches`: it also finds the segments of lost workers. */
  readonly trigger: (how?: { readonly watches: boolean }) => Promise<Trigger>;
  close(): Promise<void>;
}

/** Opens the pool at an address; makes its tables in a new database. Loads the libraries. */
export async function openPool(text: string, clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>): Promise<OpenedPool> {
  const database = await openDatabase(poolAddress(text), clock);
  try {
    await prepareSchema(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  let trigger: Promise<Trigger> | undefined;
  return {
    shown: database.address.shown,
    store: createPoolStore(database, clock),
    trigger: async ({ watches } = { watches: false }) => {
      trigger ??= createTrigger({ database, clock, watches });
      return trigger;
    },
    close: async () => {
      await (await trigger?.catch(() => undefined))?.close();
      await database.close();
    },
  };
}

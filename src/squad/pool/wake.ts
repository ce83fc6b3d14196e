import type { PoolRun, PoolStore } from '../../substrate/ports/pool.ts';
import type { Trigger } from '../../substrate/ports/trigger.ts';

export interface WakePorts {
  readonly store: PoolStore;
  readonly trigger: Trigger;
}

/** Wakes a worker for the run. More often than needed does no harm. */
export async function wakeFor({ trigger }: Pick<WakePorts, 'trigger'>, run: PoolRun): Promise<void> {
  await trigger.submit({ run: run.id, priority: run.priority, labels: run.labels });
}

/** Wakes workers for all that has something to do: a queue may have lost, or never heard, what the store knows. */
export async function wakeDue(ports: WakePorts): Promise<void> {
  for (const run of await ports.store.due()) await wakeFor(ports, run);
}

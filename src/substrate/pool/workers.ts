import { usageError } from '../../model/errors.ts';
import { noSuch } from '../../model/unknown-name.ts';
import type { Json } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { POOL_LEASE, type PoolStore, type PoolWorker } from '../ports/pool.ts';
import type { PoolDatabase } from './database.ts';
import { jsonOf, msOf } from './statements.ts';

interface Row extends Omit<PoolWorker, 'offers'> {
  offers: Json;
  seen_at: number;
  draining: boolean;
  alive: boolean;
}

const ALIVE = `seen_at > clock_timestamp() - interval '${POOL_LEASE.heldMs} milliseconds'`;

type WorkerVerbs = Pick<PoolStore, 'register' | 'workers' | 'drainWorker' | 'removeWorker'>;

export function workerVerbs(database: PoolDatabase): WorkerVerbs {
  const requireOne = async (name: string, changed: number): Promise<void> => {
    if (changed > 0) return;
    const known = await database.rows<{ name: string }>('select name from squad_pool.worker where not removed');
    throw usageError(
      noSuch(
        'worker',
        plainLine(name, 80),
        known.map((one) => one.name),
      ),
      'See `squad pool` for those of the pool.',
    );
  };
  return {
    register: async (worker) => {
      const { name, instance, version, host, labels, slots, offers } = worker;
      const [row] = await database.rows<{ draining: boolean }>(
        `insert into squad_pool.worker as known (name, instance, version, host, labels, slots, offers) values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (name) do update set version = $3, host = $4, labels = $5, slots = $6, offers = $7, seen_at = clock_timestamp(),
           draining = known.draining and known.instance = $2, removed = false, instance = $2
         where (known.instance = $2 and not known.removed) or (known.instance <> $2 and (known.removed or not (known.${ALIVE})))
         returning draining`,
        [name, instance, version, host, labels, slots, jsonOf(offers)],
      );
      if (row === undefined) throw await refusal(database, worker);
      return { isDraining: row.draining };
    },
    workers: async () => {
      const rows = await database.rows<Row>(
        `select name, instance, version, host, labels, slots, offers, draining, ${msOf('seen_at')} as seen_at, ${ALIVE} as alive
         from squad_pool.worker where not removed order by name`,
      );
      return rows.map(({ seen_at: seenAt, draining, alive, ...row }) => ({
        ...row,
        ...{ seenAt, isDraining: draining, isAlive: alive },
      }));
    },
    drainWorker: async (name) => {
      const sql = 'update squad_pool.worker set draining = true where name = $1 and not removed';
      await requireOne(name, await database.change(sql, [name]));
    },
    removeWorker: async (name) => {
      const changed = await database.transaction(async (statements) => {
        await statements.change(
          `update squad_pool.run set state = 'queued', epoch = epoch + 1, worker = null, lease_until = null,
           why = 'its worker was removed' where worker = $1 and state = 'running'`,
          [name],
        );
        return statements.change('update squad_pool.worker set removed = true where name = $1 and not removed', [name]);
      });
      await requireOne(name, changed);
    },
  };
}

async function refusal(database: PoolDatabase, { name, instance }: PoolWorker) {
  const [row] = await database.rows<{ host: string; mine: boolean }>(
    'select host, instance = $2 as mine from squad_pool.worker where name = $1',
    [name, instance],
  );
  const shown = plainLine(name, 80);
  if (row?.mine === true)
    return usageError(
      `the worker ${shown} was taken out of the pool`,
      'Start it again to put it back: `squad worker`.',
    );
  return usageError(
    `another worker ${shown} is at work on ${plainLine(row?.host ?? 'another machine', 120)}`,
    'Give this one a name of its own: `squad worker --name NAME`.',
  );
}

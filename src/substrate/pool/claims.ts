import type { PoolStore } from '../ports/pool.ts';
import type { PoolDatabase } from './database.ts';
import { LEASE_END } from './schema.ts';
import { FENCE, fenceOf, jsonOf, lostClaim, announce } from './statements.ts';

type ClaimVerbs = Pick<PoolStore, 'claim' | 'renew' | 'setStatus' | 'release'>;

export function claimVerbs(database: PoolDatabase): ClaimVerbs {
  return {
    claim: async (run, worker) => {
      const [row] = await database.rows<{ epoch: number }>(
        `update squad_pool.run set state = 'running', epoch = epoch + 1, worker = $2, why = null, again = null, lease_until = ${LEASE_END}
         where id = $1 and (state = 'queued' or (state = 'running' and lease_until < clock_timestamp())) returning epoch`,
        [run, worker],
      );
      return row === undefined ? undefined : { run, worker, epoch: row.epoch };
    },
    renew: async (claims) => {
      const [ids, workers, epochs] = [
        claims.map((one) => one.run),
        claims.map((one) => one.worker),
        claims.map((one) => one.epoch),
      ];
      const kept = await database.rows<{ id: string; epoch: number }>(
        `update squad_pool.run set lease_until = ${LEASE_END}
         from unnest($1::text[], $2::text[], $3::int[]) as mine (m_run, m_worker, m_epoch)
         where id = m_run and worker = m_worker and epoch = m_epoch and state = 'running' returning id, epoch`,
        [ids, workers, epochs],
      );
      const found = new Map(kept.map(({ id, epoch }) => [id, epoch]));
      return claims.filter(({ run, epoch }) => found.get(run) === epoch);
    },
    setStatus: async (claim, status) => {
      await database.transaction(async (statements) => {
        const sql = `update squad_pool.run set status = $4 where ${FENCE}`;
        if ((await statements.change(sql, [...fenceOf(claim), jsonOf(status)])) === 0) throw lostClaim(claim);
        await announce(statements, claim.run);
      });
    },
    release: async (claim, { state, why, again }) => {
      await database.transaction(async (statements) => {
        // The lock first: a command that came before it is seen below, and a later one finds the run released.
        const mine = await statements.rows(`select from squad_pool.run where ${FENCE} for update`, fenceOf(claim));
        if (mine.length === 0) throw lostClaim(claim);
        const asked = await statements.rows(
          'select from squad_pool.command where run = $1 and done_at is null limit 1',
          [claim.run],
        );
        const to =
          asked.length > 0 ? { state: 'queued', why: null, again: null } : { state, why, again: again ?? null };
        await statements.change(
          `update squad_pool.run set state = $2, why = $3, again = to_timestamp($4::float8 / 1000), worker = null, lease_until = null where id = $1`,
          [claim.run, to.state, to.why, to.again],
        );
        await announce(statements, claim.run);
      });
    },
  };
}

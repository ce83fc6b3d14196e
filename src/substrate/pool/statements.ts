import { SquadError } from '../../model/errors.ts';
import type { Json } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { PoolClaim } from '../ports/pool.ts';
import type { Statements } from './database.ts';

/** The channel on which the database says which run has changed. */
export const CHANGES = 'squad_pool_changes';

/** A time of the database as epoch ms. */
export function msOf(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::float8`;
}

/** As a column of type json, which keeps a text as it is. */
export function jsonOf(value: Json): string {
  return JSON.stringify(value);
}

/** Says that a run has changed, to those who follow: when the transaction has come through. */
export async function announce(statements: Statements, run: string): Promise<void> {
  await statements.rows('select pg_notify($1, $2)', [CHANGES, run]);
}

/** The last words of a statement that writes for a claim, whose values begin with these three. */
export const FENCE = `id = $1 and worker = $2 and epoch = $3 and state = 'running'`;

export function fenceOf({ run, worker, epoch }: PoolClaim): [string, string, number] {
  return [run, worker, epoch];
}

export function lostClaim({ run, worker, epoch }: PoolClaim): SquadError {
  return new SquadError({
    code: 'lease-fenced',
    message: `${plainLine(worker, 80)} no longer has the run ${plainLine(run, 80)} (epoch ${epoch}): another worker has taken it over, or people took it out`,
    next: 'Look at it with `squad pool`. Nothing was stored.',
  });
}

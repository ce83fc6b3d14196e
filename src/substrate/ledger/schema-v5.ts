import type { Database } from 'better-sqlite3';
import { sealedColumns } from './row-digest.ts';
import { sealByTrigger } from './schema-v2.ts';

/** Dollars as whole micro-dollars, as `microUsd` makes them. */
export const MICRO_USD = (usd: string): string => `max(CAST(round((${usd}) * 1e6) AS INTEGER), (${usd}) > 0)`;

/** The cost of turns becomes a whole number, whose sums are exact. */
export function countMicros(db: Database): void {
  db.exec(`
    DROP TRIGGER usage_sealed_on_insert;
    DROP TRIGGER usage_sealed_on_update;
    ALTER TABLE usage ADD COLUMN cost_micro_usd INTEGER;
    UPDATE usage SET cost_micro_usd = ${MICRO_USD('cost_usd')};
    ALTER TABLE usage DROP COLUMN cost_usd`);
  db.exec(`UPDATE usage SET seal = row_digest(${sealedColumns(db, 'usage')})`);
  sealByTrigger(db, ['usage']);
}

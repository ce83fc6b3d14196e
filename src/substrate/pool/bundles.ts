import { badInput, SquadError } from '../../model/errors.ts';
import { sha256Of } from '../../model/sha256.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { LedgerPages, PoolBundle, PoolStore } from '../ports/pool.ts';
import type { PoolDatabase, Statements } from './database.ts';
import { FENCE, fenceOf, lostClaim, announce } from './statements.ts';

/** So that no statement grows with the ledger. */
const PAGES_AT_ONCE = 256;
/** A lock of the database: shared by those who store contents, alone for those who delete some. */
const CONTENTS = 7_102_412;

type BundleVerbs = Pick<PoolStore, 'storeBundle' | 'bundle' | 'content' | 'missing'>;

export function bundleVerbs(database: PoolDatabase): BundleVerbs {
  return {
    storeBundle: async (claim, bundle) => {
      await database.transaction(async (statements) => {
        const sql = `update squad_pool.run set manifest = $4, page_bytes = $5, pages = $6, bundle = bundle + 1, bundle_epoch = epoch,
          stored_at = clock_timestamp() where ${FENCE}`;
        const { pageBytes, count } = bundle.pages;
        // First: the row is locked until the end, so that no take-over comes between.
        const changed = await statements.change(sql, [...fenceOf(claim), bundle.manifest, pageBytes, count]);
        if (changed === 0) throw lostClaim(claim);
        await insertBundle(statements, claim.run, claim.epoch, bundle);
        await announce(statements, claim.run);
      });
    },
    bundle: bundleOf(database),
    content: async (hash) => {
      const [row] = await database.rows<{ body: Buffer }>('select body from squad_pool.content where hash = $1', [
        hash,
      ]);
      if (row !== undefined && sha256Of(row.body) === hash) return row.body;
      const what = row === undefined ? 'lacks' : 'has another';
      throw badInput(
        `the pool ${database.address.shown} ${what} content ${plainLine(hash, 80)}`,
        'The database was changed or restored in part: submit the run again, or restore its backup.',
      );
    },
    missing: async (hashes) => missingOf(database, hashes),
  };
}

/** Within the transaction that has written the run's row. */
export async function insertBundle(
  statements: Statements,
  run: string,
  epoch: number,
  { pages, names, contents }: PoolBundle,
): Promise<void> {
  // Until the end, so that none of them is taken for unused by `deleteUnused`.
  await statements.rows(`select pg_advisory_xact_lock_shared(${CONTENTS})`);
  for (const [hash, body] of contents)
    await statements.change('insert into squad_pool.content values ($1, $2) on conflict do nothing', [hash, body]);
  if ((await missingOf(statements, names)).length > 0) throw removedMeanwhile();
  await insertPages(statements, run, epoch, pages);
}

/** Deletes what no run names any more. Within a transaction that has written the rows of runs that it changes. */
export async function deleteUnused(statements: Statements): Promise<void> {
  await statements.rows(`select pg_advisory_xact_lock(${CONTENTS})`);
  await statements.change(
    `delete from squad_pool.content where hash not in
     (select part ->> 'sha256' from squad_pool.run, json_array_elements(coalesce(manifest::json -> 'parts', '[]')) as part
      where state <> 'removed' and manifest like '{%' and part ->> 'sha256' is not null)`,
  );
}

async function missingOf(statements: Pick<Statements, 'rows'>, hashes: readonly string[]): Promise<string[]> {
  const rows = await statements.rows<{ hash: string }>(
    `select hash from unnest($1::text[]) as asked (hash) where not exists
     (select from squad_pool.content where content.hash = asked.hash)`,
    [[...new Set(hashes)]],
  );
  return rows.map(({ hash }) => hash);
}

function removedMeanwhile(): SquadError {
  return new SquadError({
    code: 'storage-refused',
    message: 'a run was removed from the pool at the same moment, and with it a content that this one needs, too',
    next: 'Run the command again: it brings it along.',
  });
}

async function insertPages(statements: Statements, run: string, epoch: number, pages: LedgerPages): Promise<void> {
  const changed = [...pages.changed];
  for (let at = 0; at < changed.length; at += PAGES_AT_ONCE) {
    const some = changed.slice(at, at + PAGES_AT_ONCE);
    await statements.change(
      `insert into squad_pool.page select $1, number, $2, bytes from unnest($3::int[], $4::bytea[]) as given (number, bytes)
       on conflict (run, number) do update set epoch = excluded.epoch, bytes = excluded.bytes`,
      [run, epoch, some.map(([number]) => number), some.map(([, bytes]) => Buffer.from(bytes))],
    );
  }
  await statements.change('delete from squad_pool.page where run = $1 and number >= $2', [run, pages.count]);
}

interface Row {
  manifest: string;
  page_bytes: number;
  pages: number;
  bundle: number;
  bundle_epoch: number;
}

function bundleOf(database: PoolDatabase): PoolStore['bundle'] {
  return async (run, have) =>
    database.transaction(async (statements) => {
      // Against one that is stored in between: manifest and pages are of one moment.
      await statements.change('set transaction isolation level repeatable read, read only');
      const [row] = await statements.rows<Row>(
        `select manifest, page_bytes, pages, bundle, bundle_epoch from squad_pool.run where id = $1 and state <> 'removed'`,
        [run],
      );
      if (row === undefined || row.bundle === have) return undefined;
      const found = await statements.rows<{ number: number; bytes: Buffer }>(
        'select number, bytes from squad_pool.page where run = $1 order by number',
        [run],
      );
      if (found.length !== row.pages || found.some(({ number }, index) => number !== index))
        throw badInput(
          `the pool ${database.address.shown} has ${found.length} of ${row.pages} pages of the run ${plainLine(run, 80)}`,
          'The database was changed or restored in part: restore its backup, or remove the run with `squad pool remove`.',
        );
      const { manifest, page_bytes: pageBytes, bundle: number, bundle_epoch: epoch } = row;
      return { manifest, pageBytes, number, epoch, pages: found.map(({ bytes }) => bytes) };
    });
}

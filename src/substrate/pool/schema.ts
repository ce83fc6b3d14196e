import { SquadError, wrongEnvironment } from '../../model/errors.ts';
import { POOL_LEASE } from '../ports/pool.ts';
import type { PoolDatabase, Statements } from './database.ts';

/** Grows with each change of the tables. */
const POOL_SCHEMA = 1;
const LEAST_POSTGRES = 13;

/** A lease, from now on. The clock of the statement: that of the transaction stands still. */
export const LEASE_END = `clock_timestamp() + interval '${POOL_LEASE.heldMs} milliseconds'`;

const TABLES = `
create schema if not exists squad_pool;
create table squad_pool.version (number int not null);
create table squad_pool.run (
  id text primary key, name text not null, repository text not null, base text not null, about json not null,
  labels text[] not null, priority int not null, submitted_by text not null,
  submitted_at timestamptz not null default clock_timestamp(),
  state text not null default 'queued' check (state in ('queued', 'running', 'waiting', 'over', 'removed')),
  why text, again timestamptz, epoch int not null default 0, worker text, lease_until timestamptz,
  status json not null default 'null', manifest text not null, page_bytes int not null, pages int not null,
  bundle int not null default 1, bundle_epoch int not null default 0, stored_at timestamptz not null default clock_timestamp()
);
create unique index run_name on squad_pool.run (repository, name) where state <> 'removed';
create index run_due on squad_pool.run (state) where state in ('queued', 'running', 'waiting');
create table squad_pool.page (
  run text not null references squad_pool.run on delete cascade, number int not null, epoch int not null, bytes bytea not null,
  primary key (run, number)
);
create table squad_pool.content (hash text primary key, body bytea not null);
create table squad_pool.command (
  id text primary key, run text not null references squad_pool.run on delete cascade, verb text not null, args json not null,
  by text not null, at timestamptz not null default clock_timestamp(), done_at timestamptz, answer json not null default 'null'
);
create index command_open on squad_pool.command (run, at) where done_at is null;
create table squad_pool.worker (
  name text primary key, instance text not null, version text not null, host text not null, labels text[] not null,
  slots int not null, offers json not null, seen_at timestamptz not null default clock_timestamp(),
  draining boolean not null default false, removed boolean not null default false
);
`;

/** Makes the tables of a new database. Throws `wrong-environment` for an old PostgreSQL and `schema-newer` for tables of a newer squad. */
export async function prepareSchema(database: PoolDatabase): Promise<void> {
  const [server] = await database.rows<{ number: number }>(
    `select current_setting('server_version_num')::int / 10000 as number`,
  );
  if ((server?.number ?? 0) < LEAST_POSTGRES)
    throw wrongEnvironment(
      `the pool ${database.address.shown} runs PostgreSQL ${server?.number}, and squad needs ${LEAST_POSTGRES} or newer`,
      'Update the server, or use another one.',
    );
  if (await isThere(database)) return requireVersion(database);
  await database.transaction(async (statements) => {
    // Two that begin at the same moment: the second waits here, and finds the tables.
    await statements.rows('select pg_advisory_xact_lock(7102411)');
    if (await isThere(statements)) return;
    await statements.raw(TABLES);
    await statements.change('insert into squad_pool.version values ($1)', [POOL_SCHEMA]);
  });
  await requireVersion(database);
}

async function isThere(statements: Statements): Promise<boolean> {
  // Not by to_regclass, which in a transaction may answer from before another one has made it.
  const [row] = await statements.rows<{ found: boolean }>(
    `select exists (select from pg_catalog.pg_tables where schemaname = 'squad_pool' and tablename = 'version') as found`,
  );
  return row?.found === true;
}

async function requireVersion({ address, ...database }: PoolDatabase): Promise<void> {
  const [row] = await database.rows<{ number: number }>('select max(number) as number from squad_pool.version');
  const number = row?.number ?? 0;
  if (number === POOL_SCHEMA) return;
  const isNewer = number > POOL_SCHEMA;
  throw new SquadError({
    code: isNewer ? 'schema-newer' : 'schema-older',
    message: `the pool ${address.shown} has tables of ${isNewer ? 'a newer' : 'an older'} squad: version ${number}, and this one knows ${POOL_SCHEMA}`,
    next: isNewer
      ? 'Update squad here, then run the command again.'
      : 'Use the squad of its workers, or another database.',
  });
}

import type { Client, Pool, PoolClient } from 'pg';
import type { Clock } from '../ports/clock.ts';
import type { PoolAddress } from './address.ts';
import { loadPg } from './library.ts';
import { poolError } from './pool-errors.ts';

type Values = readonly unknown[];

/** Statements on the database of a pool, each alone or in one transaction. */
export interface Statements {
  rows<Row>(text: string, values?: Values): Promise<Row[]>;
  /** How many rows it changed. */
  change(text: string, values?: Values): Promise<number>;
  /** As the library answers and throws: for another library. */
  raw(text: string, values?: Values): Promise<{ rows: unknown[] }>;
}

export interface PoolDatabase extends Statements {
  readonly address: PoolAddress;
  transaction<T>(work: (statements: Statements) => Promise<T>): Promise<T>;
  /** Calls back for each message of a channel, and with '' when some may have been missed. */
  listen(channel: string, onMessage: (payload: string) => void): () => void;
  close(): Promise<void>;
}

/** The most of one process: few, because a database has not many for all of its workers. */
const CONNECTIONS = 4;
const CONNECT_MS = 5_000;
/** Much longer than a lease: a worker that waits so long has lost its runs. */
const STATEMENT_MS = 30_000;
const AGAIN_MS = 1_000;

/** Makes no connection yet. */
export async function openDatabase(address: PoolAddress, clock: Pick<Clock, 'sleep'>): Promise<PoolDatabase> {
  const pg = await loadPg();
  const options = {
    connectionString: address.url,
    application_name: 'squad',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  };
  const pool = new pg.Pool({ ...options, max: CONNECTIONS, query_timeout: STATEMENT_MS, allowExitOnIdle: true });
  // A connection that breaks while nothing uses it: the next statement makes another one.
  pool.on('error', () => undefined);
  const ears = createEars(() => new pg.Client(options), clock);
  const mapped = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw poolError(address.shown, error);
    }
  };
  const own = statementsOn(pool);
  return {
    address,
    rows: async (text, values) => mapped(async () => own.rows(text, values)),
    change: async (text, values) => mapped(async () => own.change(text, values)),
    raw: async (text, values) => own.raw(text, values),
    transaction: async (work) => mapped(async () => inTransaction(pool, work)),
    listen: (channel, onMessage) => ears.listen(channel, onMessage),
    close: async () => {
      await ears.close();
      if (!pool.ended) await pool.end();
    },
  };
}

function statementsOn(client: Pool | PoolClient): Statements {
  return {
    rows: async <Row>(text: string, values: Values = []) =>
      // The rows are as the statement says, which is written beside its type.
      (await client.query(text, [...values])).rows as Row[],
    change: async (text, values = []) => (await client.query(text, [...values])).rowCount ?? 0,
    // Without values, so that it may be several statements.
    raw: async (text, values) => (values === undefined ? client.query(text) : client.query(text, [...values])),
  };
}

async function inTransaction<T>(pool: Pool, work: (statements: Statements) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  // The statement that it breaks throws; without an ear for it, it would end the process as well.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  try {
    await client.query('begin');
    const answer = await work(statementsOn(client)).catch(async (error: unknown) => {
      await client.query('rollback');
      broken = false;
      throw error;
    });
    await client.query('commit');
    broken = false;
    return answer;
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}

type Ear = (payload: string) => void;

interface Ears {
  listen(channel: string, ear: Ear): () => void;
  close(): Promise<void>;
}

/** One connection for all channels, made by the first ear and made again whenever it breaks. */
function createEars(connect: () => Client, clock: Pick<Clock, 'sleep'>): Ears {
  const byChannel = new Map<string, Set<Ear>>();
  let client: Client | undefined;
  const closed = new AbortController();
  let attempt: Promise<void> | undefined;

  const hear = (channel: string, payload: string): void => {
    for (const ear of byChannel.get(channel) ?? []) ear(payload);
  };
  const open = async (): Promise<void> => {
    while (!closed.signal.aborted && client === undefined) {
      const made = connect();
      const lost = (): void => {
        if (client !== made) return;
        client = undefined;
        start();
      };
      made.on('error', lost);
      made.on('end', lost);
      made.on('notification', ({ channel, payload }) => {
        hear(channel, payload ?? '');
      });
      try {
        await made.connect();
        for (const channel of byChannel.keys()) await made.query(`listen ${channel}`);
        client = made;
        for (const channel of byChannel.keys()) hear(channel, '');
      } catch {
        await made.end().catch(() => undefined);
        await clock.sleep(AGAIN_MS, closed.signal);
      }
    }
  };
  function start(): void {
    attempt ??= open().finally(() => {
      attempt = undefined;
    });
  }
  return {
    listen: (channel, ear) => {
      const ears = byChannel.get(channel);
      if (ears === undefined) byChannel.set(channel, new Set([ear]));
      else ears.add(ear);
      if (client === undefined) start();
      else if (ears === undefined)
        void client.query(`listen ${channel}`).then(
          () => ear(''),
          () => undefined,
        );
      return () => byChannel.get(channel)?.delete(ear);
    },
    close: async () => {
      closed.abort();
      await attempt;
      const last = client;
      client = undefined;
      await last?.end().catch(() => undefined);
    },
  };
}

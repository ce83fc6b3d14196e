import { lstatSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RunnableConfig } from '@langchain/core/runnables';
import type { CheckpointListOptions, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { z } from 'zod';
import { plainSerde } from '../graph/plain-serde.ts';
import { errorText, isSquadError, SquadError } from '../model/errors.ts';
import {
  closeDb,
  corruptDatabase,
  databaseError,
  openDb,
  teachRowDigest,
  write,
  type Db,
} from '../substrate/ledger/index.ts';
import { FILE_ENDS } from '../substrate/ledger/open-db.ts';
import { CHECKPOINTS, CHECKPOINTS_ID, PRUNED } from '../substrate/ledger/checkpoint-file.ts';

const OWN = 'thread_id, checkpoint_ns, checkpoint_id';
const digestOf = (row: string): string =>
  `row_digest(${row}.parent_checkpoint_id, ${row}.type, CAST(${row}.checkpoint AS TEXT), CAST(${row}.metadata AS TEXT))`;

/** Each checkpoint has a digest, because SQLite does not notice a flipped bit inside a text. The index ends with the rowid. */
const DIGESTS = `
CREATE INDEX IF NOT EXISTS checkpoint_order ON checkpoints (thread_id, checkpoint_ns);
CREATE TABLE IF NOT EXISTS checkpoint_digest (
  thread_id TEXT NOT NULL,
  checkpoint_ns TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,
  digest BLOB NOT NULL,
  PRIMARY KEY (${OWN})
) STRICT;
CREATE TRIGGER IF NOT EXISTS checkpoint_digested AFTER INSERT ON checkpoints BEGIN
  INSERT OR REPLACE INTO checkpoint_digest (${OWN}, digest)
  VALUES (NEW.thread_id, NEW.checkpoint_ns, NEW.checkpoint_id, ${digestOf('NEW')});
END;
CREATE TRIGGER IF NOT EXISTS checkpoint_forgotten AFTER DELETE ON checkpoints BEGIN
  DELETE FROM checkpoint_digest
  WHERE (${OWN}) = (OLD.thread_id, OLD.checkpoint_ns, OLD.checkpoint_id);
END;`;

/** A run continues from the newest checkpoint of its thread. One without a digest, from an old version, is accepted. */
const damagedHeadOf = (threads: string): string => `
SELECT head.checkpoint_id AS id FROM (
  SELECT max(rowid) AS place FROM checkpoints ${threads} GROUP BY thread_id, checkpoint_ns
) JOIN checkpoints AS head ON head.rowid = place JOIN checkpoint_digest AS kept USING (${OWN})
WHERE kept.digest IS NOT ${digestOf('head')} LIMIT 1`;

const HAS_TABLE = "SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = ?";

const OF_THREAD = 'thread_id = :thread AND checkpoint_ns = :namespace';
/** The rowid of one checkpoint; NULL if there is none. */
const PLACE = `SELECT rowid FROM checkpoints WHERE ${OF_THREAD} AND checkpoint_id = :id`;
const NEWEST = `SELECT checkpoint_id AS id FROM checkpoints WHERE ${OF_THREAD} ORDER BY rowid DESC LIMIT 1`;
/** After one that is deleted, all that are left. */
const LATER = `SELECT checkpoint_id AS id FROM checkpoints WHERE ${OF_THREAD} AND rowid > coalesce((${PLACE}), 0)
ORDER BY rowid LIMIT :limit`;

/** Checkpoints kept of each thread, at least. A resume needs the newest; the others show people what the graph did. */
const KEPT = 1_000;

const ofThread = z.object({ thread_id: z.string(), checkpoint_ns: z.string() });

interface Place {
  readonly thread_id: string;
  readonly checkpoint_ns: string;
  readonly checkpoint_id: string;
}

/**
 * Orders the checkpoints of a thread by arrival, because LangGraph's ids begin with the time of day, which can be set back. Deletes old
 * ones. Throws SquadErrors: `database-corrupt`, `storage-full`, `storage-refused`.
 */
export class CheckpointStore extends SqliteSaver {
  /** Checkpoints written since the last deletion, by thread and namespace. */
  readonly #unpruned = new Map<string, number>();

  readonly #kept: number;

  constructor(db: Db, kept = KEPT) {
    super(db, plainSerde);
    this.#kept = kept;
  }

  /** Reads no state, because every write asks for the newest checkpoint. */
  headOf(threadId: string, namespace: string): string | undefined {
    try {
      this.setup();
      return this.db.prepare<object, { id: string }>(NEWEST).get({ thread: threadId, namespace })?.id;
    } catch (error) {
      throw checkpointError(this.db.name, error);
    }
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable ?? {};
    if (checkpoint_id) return this.#typed(() => super.getTuple(config));
    const head = this.headOf(String(thread_id), String(checkpoint_ns));
    if (head === undefined) return undefined;
    return this.#typed(() => super.getTuple({ configurable: { thread_id, checkpoint_ns, checkpoint_id: head } }));
  }

  override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    this.setup();
    const { sql, values } = listed(config, options);
    const places = await this.#typed(async () => this.db.prepare<unknown[], Place>(sql).all(...values));
    for (const place of places) {
      // Another process may have deleted it meanwhile.
      const tuple = await this.getTuple({ configurable: place });
      if (tuple !== undefined) yield tuple;
    }
  }

  override async put(...given: Parameters<SqliteSaver['put']>): ReturnType<SqliteSaver['put']> {
    return this.#typed(async () => {
      const stored = await super.put(...given);
      this.#prune(stored);
      return stored;
    });
  }

  override async putWrites(...given: Parameters<SqliteSaver['putWrites']>): ReturnType<SqliteSaver['putWrites']> {
    return this.#typed(() => super.putWrites(...given));
  }

  /** Starts to store digests. The connection must have the function `row_digest`. */
  keepDigests(): void {
    this.setup();
    this.db.exec(DIGESTS);
  }

  /** The id of a newest checkpoint, of this thread or of any, that does not match its digest. */
  damagedHead(threadId?: string): string | undefined {
    if (!this.#has('checkpoint_digest')) return undefined;
    const [where, ...given] = threadId === undefined ? [''] : ['WHERE thread_id = ?', threadId];
    return this.db.prepare<string[], { id: string }>(damagedHeadOf(where)).get(...given)?.id;
  }

  /** The ids after this one, oldest first. Without one, the newest alone. */
  idsAfter(threadId: string, after: string | undefined, limit: number): string[] {
    const newest = after === undefined ? this.headOf(threadId, '') : undefined;
    if (after === undefined) return newest === undefined ? [] : [newest];
    const rows = this.db
      .prepare<object, { id: string }>(LATER)
      .all({ thread: threadId, namespace: '', id: after, limit });
    return rows.map(({ id }) => id);
  }

  #has(table: string): boolean {
    return this.db.prepare<[string], { found: number }>(HAS_TABLE).get(table) !== undefined;
  }

  #prune({ configurable }: RunnableConfig): void {
    const { thread_id: thread, checkpoint_ns: namespace } = ofThread.parse(configurable);
    const key = `${thread}/${namespace}`;
    const kept = this.#kept;
    const since = this.#unpruned.get(key) ?? kept;
    this.#unpruned.set(key, since < kept ? since + 1 : 1);
    if (since < kept) return;
    write(this.db, () => {
      for (const statement of PRUNED) this.db.prepare(statement).run({ thread, namespace, kept });
    });
  }

  async #typed<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw checkpointError(this.db.name, error);
    }
  }
}

/** The checkpoints that `list` of a saver yields, newest first. */
function listed(
  { configurable: { thread_id, checkpoint_ns } = {} }: RunnableConfig,
  { limit, before, filter = {} }: CheckpointListOptions,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const of = Object.entries({ thread_id, checkpoint_ns }).filter(([, value]) => value !== undefined && value !== null);
  const scope = of.map(([column]) => `${column} = ?`);
  const named = of.map(([, value]) => value);
  const last: unknown = before?.configurable?.['checkpoint_id'];
  const older = `rowid < (SELECT max(rowid) FROM checkpoints WHERE ${[...scope, 'checkpoint_id = ?'].join(' AND ')})`;
  const asked = Object.entries(filter).filter(([, value]) => value !== undefined);
  const where = [
    ...scope,
    ...(last === undefined ? [] : [older]),
    ...asked.map(() => 'CAST(metadata AS TEXT) -> ? = ?'),
  ].join(' AND ');
  const sql = `SELECT ${OWN} FROM checkpoints ${where === '' ? '' : `WHERE ${where}`} ORDER BY rowid DESC LIMIT ?`;
  const values = [
    ...named,
    ...(last === undefined ? [] : [...named, last]),
    ...asked.flatMap(([key, value]) => [`$.${key}`, JSON.stringify(value)]),
    limit ?? -1,
  ];
  return { sql, values };
}

/** Names `resume` as the next command, not `db check`: the ledger has everything that this file has. */
export function checkpointError(path: string, error: unknown): unknown {
  const typed = databaseError(path, error);
  if (!isSquadError(typed) || typed.code !== 'database-corrupt') return typed;
  const next = 'Run `squad resume`: it sets the file aside and continues from the ledger, which has everything.';
  return new SquadError({ code: 'database-corrupt', message: typed.message, next, cause: error });
}

export interface Checkpoints {
  readonly store: CheckpointStore;
  /** A warning for people if the file was damaged and replaced. */
  readonly notice: string | undefined;
  close(): void;
}

/** Opens LangGraph's checkpoints of a workspace. Sets a damaged file aside: a resume rebuilds the state from the ledger. */
export function openCheckpoints(directory: string, kept?: number): Checkpoints {
  const path = join(directory, CHECKPOINTS);
  try {
    return { ...openSound(path, kept), notice: undefined };
  } catch (error) {
    if (!isSquadError(error) || (error.code !== 'database-corrupt' && !isInTheWay(path))) throw error;
    setAside(path);
    const notice = `${errorText(error)} squad set it aside as ${path}.damaged and continues from the ledger, which has everything.`;
    return { ...openSound(path, kept), notice };
  }
}

function openSound(path: string, kept?: number): Omit<Checkpoints, 'notice'> {
  // A checkpoint lost in a power cut does no harm. Flushing each one costs more than the superstep itself.
  const db = openDb(path, { applicationId: CHECKPOINTS_ID, durable: 'normal', shrinks: true });
  try {
    const store = new CheckpointStore(db, kept);
    refuseDamage(db, store);
    return { store, close: () => closeDb(db) };
  } catch (error) {
    closeDb(db);
    throw databaseError(path, error);
  }
}

function refuseDamage(db: Db, store: CheckpointStore): void {
  const found = String(db.pragma('quick_check(1)', { simple: true }));
  if (found !== 'ok') throw corruptDatabase(db.name, `the database is damaged (${found}).`);
  teachRowDigest(db);
  store.keepDigests();
  const head = store.damagedHead();
  if (head !== undefined) throw corruptDatabase(db.name, `checkpoint ${head} does not match its digest.`);
}

/** Something that is no file is in the place of one of its files, such as a link: that decides as little as what was there. */
function isInTheWay(path: string): boolean {
  return FILE_ENDS.some((end) => lstatSync(path + end, { throwIfNoEntry: false })?.isFile() === false);
}

function setAside(path: string): void {
  for (const end of FILE_ENDS) {
    if (lstatSync(path + end, { throwIfNoEntry: false }) === undefined) continue;
    rmSync(`${path}.damaged${end}`, { recursive: true, force: true });
    renameSync(path + end, `${path}.damaged${end}`);
  }
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RunnableConfig } from '@langchain/core/runnables';
import { BaseCheckpointSaver, type CheckpointListOptions, type CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { plainSerde } from '../graph/plain-serde.ts';
import { closeDb, corruptDatabase, openDb, teachRowDigest } from '../substrate/ledger/index.ts';
import { gather } from '../text/gather.ts';
import { CHECKPOINTS, CHECKPOINTS_ID } from '../substrate/ledger/checkpoint-file.ts';
import { checkpointError, CheckpointStore } from './checkpoints.ts';

/** The schema of the file, which has never changed. */
const SCHEMA = 0;
/** In WAL, a reader waits only while the file is repaired. */
const BUSY_MS = 1_000;

/**
 * Reads checkpoints while an engine writes them, and changes no file. Opens the file for each read, because an engine may replace a damaged
 * one. Throws `database-corrupt`, `schema-newer`, `storage-refused`; a missing file has no checkpoints.
 */
export class CheckpointReader extends BaseCheckpointSaver {
  readonly #directory: () => string;

  /** `directory`: that of the ledger, which the first run makes. */
  constructor(directory: () => string) {
    super(plainSerde);
    this.#directory = directory;
  }

  get #path(): string {
    return join(this.#directory(), CHECKPOINTS);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#read(threadOf(config), async (store) => store.getTuple(config));
  }

  /** Reads all that it yields at once, so that no transaction stays open. `limit` bounds it. */
  override async *list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    const found = await this.#read(threadOf(config), async (store) => gather(store.list(config, options)));
    yield* found ?? [];
  }

  /** The ids of the thread's checkpoints after this one, oldest first. Without one, the newest alone. */
  async newerThan(threadId: string, after: string | undefined, limit: number): Promise<readonly string[]> {
    return (await this.#read(threadId, async (store) => store.idsAfter(threadId, after, limit))) ?? [];
  }

  override async put(): Promise<RunnableConfig> {
    throw onlyReads();
  }

  override async putWrites(): Promise<void> {
    throw onlyReads();
  }

  override async deleteThread(): Promise<void> {
    throw onlyReads();
  }

  /** undefined: there is no file. */
  async #read<T>(threadId: string, work: (store: CheckpointStore) => Promise<T>): Promise<T | undefined> {
    if (!existsSync(this.#path)) return undefined;
    try {
      const db = openDb(this.#path, {
        applicationId: CHECKPOINTS_ID,
        schema: SCHEMA,
        readOnly: true,
        busyMs: BUSY_MS,
      });
      try {
        teachRowDigest(db);
        const store = new CheckpointStore(db);
        const damaged = store.damagedHead(threadId);
        if (damaged !== undefined) {
          throw corruptDatabase(this.#path, `checkpoint ${damaged} does not match its digest.`);
        }
        return await work(store);
      } finally {
        closeDb(db);
      }
    } catch (error) {
      throw checkpointError(this.#path, error);
    }
  }
}

function threadOf({ configurable }: RunnableConfig): string {
  return String(configurable?.['thread_id']);
}

function onlyReads(): Error {
  return new Error('this saver only reads');
}

import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { plainSerde } from '../graph/plain-serde.ts';
import type { Db } from '../substrate/ledger/index.ts';

/** Also says which checkpoint is a thread's newest, without reading its state and writes: that is asked at every write. */
export class CheckpointStore extends SqliteSaver {
  constructor(db: Db) {
    super(db, plainSerde);
  }

  headOf(threadId: string, namespace: string): string | undefined {
    this.setup();
    return this.db
      .prepare<[string, string], { id: string }>(
        'SELECT checkpoint_id AS id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id DESC LIMIT 1',
      )
      .get(threadId, namespace)?.id;
  }
}

import type { Store } from '../store.ts';
import type { MailTask } from '../../ports/mailbox.ts';

interface StoredTask {
  readonly run_id: string;
  readonly id: string;
  readonly status: MailTask['status'];
  readonly owner: string | null;
  readonly deadline: number | null;
  readonly retries: number;
  readonly last_update_seq: number;
}

const COLUMNS = 'SELECT run_id, id, status, owner, deadline, retries, last_update_seq FROM mail_task';

export function findTask(store: Store, runId: string, id: string): MailTask | undefined {
  const row = store.db.prepare<[string, string], StoredTask>(`${COLUMNS} WHERE run_id = ? AND id = ?`).get(runId, id);
  return row === undefined ? undefined : toTask(row);
}

/** In the order of their last change. */
export function listTasks(store: Store, runId: string): MailTask[] {
  return store.db
    .prepare<[string], StoredTask>(`${COLUMNS} WHERE run_id = ? ORDER BY last_update_seq, id`)
    .all(runId)
    .map(toTask);
}

function toTask(row: StoredTask): MailTask {
  return {
    runId: row.run_id,
    id: row.id,
    status: row.status,
    owner: row.owner,
    deadline: row.deadline,
    retries: row.retries,
    lastUpdateSeq: row.last_update_seq,
  };
}

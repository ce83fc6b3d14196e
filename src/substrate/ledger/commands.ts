import type { Json } from '../../text/json.ts';
import type { OperatorCommand } from '../ports/ledger.ts';
import { appendEvent } from './events.ts';
import { requireRun } from './runs.ts';
import { storedJson, type Store } from './store.ts';

/** Within a write transaction: a person's command, with the event that wakes the engine. Needs no lease. */
export function recordCommand(
  store: Store,
  command: { runId: string; verb: string; data: Json; by: string },
): OperatorCommand {
  requireRun(store, command.runId);
  const last = store.db
    .prepare<[], { last: number }>('SELECT coalesce(max(id), 0) AS last FROM operator_command')
    .get();
  const id = (last?.last ?? 0) + 1;
  const { runId, verb, data, by } = command;
  const seq = appendEvent(store, { stream: runId, type: 'operator-command', data: { id, verb, data, by } });
  const at = store.clock.now();
  store.db
    .prepare('INSERT INTO operator_command (id, run_id, seq, verb, data, operator, at) VALUES (?, ?, ?, ?, ?, ?, ?)')
    .run(id, runId, seq, verb, storedJson(data), by, at);
  return { id, runId, verb, data, by, at, seq };
}

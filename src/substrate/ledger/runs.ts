import { SquadError } from '../../model/errors.ts';
import type { Json } from '../../text/json.ts';
import { WORKSPACE_STREAM } from '../../model/ledger-event.ts';
import { isSlug } from '../../model/slug.ts';
import type { OperatorCommand, RunRow } from '../ports/ledger.ts';
import { appendEvent } from './events.ts';
import { storedJson, type Store } from './store.ts';

interface StoredRun {
  id: string;
  name: string;
  created_at: number;
  applied: number;
  driver: string | null;
}

export interface NewRun {
  readonly id: string;
  readonly name: string;
}

/** Call it in a write transaction. A retry with the same id and name returns the existing row. */
export function createRun(store: Store, run: NewRun): RunRow {
  if (!isSlug(run.name)) {
    throw new SquadError({
      code: 'bad-input',
      message: `${JSON.stringify(run.name)} cannot name a run: it becomes a path and a git branch.`,
      next: 'Use 1 to 32 small letters, digits and dashes, starting with a letter.',
    });
  }
  const known = findRun(store, run.id) ?? findRun(store, run.name);
  if (known !== undefined) {
    if (known.id === run.id && known.name === run.name) return known;
    throw new SquadError({
      code: 'usage',
      message: `There is already a run named ${known.name}.`,
      next: `Choose another name, or look at it with \`squad log ${known.name}\`.`,
    });
  }
  if (run.id === WORKSPACE_STREAM || run.id === '') {
    throw new SquadError({ code: 'bad-input', message: `A run cannot have the id "${run.id}".` });
  }
  store.db.prepare('INSERT INTO run (id, name, created_at) VALUES (?, ?, ?)').run(run.id, run.name, store.clock.now());
  appendEvent(store, { stream: run.id, type: 'run-created', data: { name: run.name } });
  return requireRun(store, run.id);
}

/** By id, else by name. */
export function findRun(store: Store, idOrName: string): RunRow | undefined {
  const row =
    store.db.prepare<[string], StoredRun>('SELECT * FROM run WHERE id = ?').get(idOrName) ??
    store.db.prepare<[string], StoredRun>('SELECT * FROM run WHERE name = ?').get(idOrName);
  return row === undefined ? undefined : toRun(row);
}

/** Oldest first. */
export function listRuns(store: Store): RunRow[] {
  return store.db.prepare<[], StoredRun>('SELECT * FROM run ORDER BY created_at, rowid').all().map(toRun);
}

/** By id. */
export function requireRun(store: Store, id: string): RunRow {
  const row = store.db.prepare<[string], StoredRun>('SELECT * FROM run WHERE id = ?').get(id);
  if (row !== undefined) return toRun(row);
  throw new SquadError({
    code: 'usage',
    message: `There is no run ${id}.`,
    next: 'See `squad log` for the runs here.',
  });
}

/** Call it in a write transaction. Records a person's command with the event that wakes the engine. Needs no lease. */
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

function toRun(row: StoredRun): RunRow {
  return {
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    applied: row.applied,
    driver: row.driver,
  };
}

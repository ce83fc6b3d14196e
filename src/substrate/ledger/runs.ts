import { badInput, usageError } from '../../model/errors.ts';
import { WORKSPACE_STREAM } from '../../model/ledger-event.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import { isSlug } from '../../model/slug.ts';
import type { Ledger, OperatorCommand, RunRow } from '../ports/ledger.ts';
import { appendEvent } from './events.ts';
import { defined } from '../../text/defined.ts';
import { parseStored, storedJson, type Store } from './store.ts';

const RUN =
  'SELECT id, name, created_at AS createdAt, applied, driver, parent_run AS parentRun, parent_seq AS parentSeq FROM run';

type StoredRun = Omit<RunRow, 'parent'> & { readonly parentRun: string | null; readonly parentSeq: number | null };

function toRow({ parentRun, parentSeq, ...row }: StoredRun): RunRow {
  return { ...row, parent: parentRun === null || parentSeq === null ? null : { runId: parentRun, seq: parentSeq } };
}

/** Call it in a write transaction. A retry with the same id, and name if that is given, returns the existing row. */
export function createRun(
  store: Store,
  { id, name: given }: Parameters<Ledger['createRun']>[0],
  parent: RunRow['parent'] = null,
): RunRow {
  const isChosen = typeof given !== 'string';
  const there = isChosen ? findRun(store, id) : undefined;
  if (there !== undefined) return there;
  const run = { id, name: isChosen ? given(store.all<RunRow>('SELECT name FROM run').map(({ name }) => name)) : given };
  if (!isSlug(run.name)) {
    throw badInput(
      `${JSON.stringify(run.name)} cannot name a run: it becomes a path and a git branch.`,
      'Use 1 to 32 small letters, digits and dashes, starting with a letter.',
    );
  }
  const known = findRun(store, run.id) ?? findRun(store, run.name);
  if (known !== undefined) {
    if (known.id === run.id && known.name === run.name) return known;
    throw usageError(
      `There is already a run named ${known.name}.`,
      `Choose another name, or look at it with \`squad log ${known.name}\`.`,
    );
  }
  if (run.id === WORKSPACE_STREAM || run.id === '') {
    throw badInput(`A run cannot have the id "${run.id}".`);
  }
  store.insert('run', {
    ...{ id: run.id, name: run.name, created_at: store.clock.now() },
    ...(parent === null ? {} : { parent_run: parent.runId, parent_seq: parent.seq }),
  });
  appendEvent(store, { stream: run.id, type: 'run-created', data: { name: run.name } });
  return requireRun(store, run.id);
}

/** Call it in a write transaction. False: the run is defined already, and stays as it is. */
export function submitRun(store: Store, { id, definition }: Parameters<Ledger['submit']>[0]): boolean {
  requireRun(store, id);
  const { defined: type } = RUN_EVENTS;
  if (store.has('SELECT 1 FROM event WHERE stream = ? AND type = ?', id, type)) return false;
  appendEvent(store, { stream: id, type, data: definition });
  return true;
}

/** By id, else by name. */
export function findRun(store: Store, idOrName: string): RunRow | undefined {
  const find = (column: 'id' | 'name') => store.one<StoredRun>(`${RUN} WHERE ${column} = ?`, idOrName);
  const row = find('id') ?? find('name');
  return row && toRow(row);
}

/** In the order in which they were stored, the first one first: a clock that is set back changes nothing about it. */
export function listRuns(store: Store): RunRow[] {
  return store.all<StoredRun>(`${RUN} ORDER BY rowid`).map(toRow);
}

export function requireRun(store: Store, id: string): RunRow {
  const row = store.one<StoredRun>(`${RUN} WHERE id = ?`, id);
  if (row !== undefined) return toRow(row);
  throw usageError(`There is no run ${id}.`, 'See `squad runs`.');
}

/** Call it in a write transaction. Records a person's command with the event that wakes the engine. Needs no lease. */
export function recordCommand(
  store: Store,
  { runId, verb, data, by }: Pick<OperatorCommand, 'runId' | 'verb' | 'data' | 'by'>,
  key?: string,
): OperatorCommand {
  requireRun(store, runId);
  const known = key === undefined ? undefined : findCommand(store, runId, key);
  if (known !== undefined) return known;
  const id = (store.value<number | null>('SELECT max(id) FROM operator_command') ?? 0) + 1;
  const seq = appendEvent(store, {
    stream: runId,
    type: 'operator-command',
    data: defined({ id, verb, data, by, key }),
  });
  const at = store.clock.now();
  store.insert('operator_command', { id, run_id: runId, seq, verb, data: storedJson(data), operator: by, at });
  return { id, runId, verb, data, by, at, seq };
}

const COMMAND =
  'SELECT id, run_id AS runId, command.seq AS seq, verb, command.data AS data, operator AS by, command.at AS at FROM operator_command AS command';

function findCommand(store: Store, runId: string, key: string): OperatorCommand | undefined {
  const sql = `${COMMAND} JOIN event ON event.seq = command.seq WHERE run_id = ? AND event.data ->> '$.key' = ?`;
  const found = store.one<Omit<OperatorCommand, 'data'> & { readonly data: string }>(sql, runId, key);
  return found && { ...found, data: parseStored(store, found.data, `command ${found.id}`) };
}

import { usageError } from '../../model/errors.ts';
import { FORK_EPOCH, RUN_EVENTS } from '../../model/run.ts';
import { plainJson } from '../../text/json.ts';
import type { NewFork, RunRow } from '../ports/ledger.ts';
import { carryOut } from './apply.ts';
import { appendEvent } from './events.ts';
import { createRun, findRun, requireRun } from './runs.ts';
import { copyMail } from './mail/copy-mail.ts';
import { storedJson, type Store } from './store.ts';

/** In a write transaction. All that the parent had decided is one step of the fork, caused by its `run-forked` event. */
export function forkRun(store: Store, { id, name, definition, forked, ...copied }: NewFork): RunRow {
  const known = findRun(store, id) ?? findRun(store, name);
  if (known !== undefined) throw usageError(`There is already a run named ${known.name}.`, 'Choose another name.');
  createRun(store, { id, name }, forked.parent);
  appendEvent(store, { stream: id, type: RUN_EVENTS.defined, data: definition });
  for (const { type, data, at } of copied.facts) appendEvent(store, { stream: id, type, data, at });
  const seq = appendEvent(store, { stream: id, type: RUN_EVENTS.forked, data: plainJson(forked) });
  const ids = copyMail(store, { parent: forked.parent, runId: id, decision: { cause: seq, epoch: FORK_EPOCH } });
  for (const decision of withIds(copied.decisions, ids))
    carryOut(store, { lease: { runId: id, epoch: FORK_EPOCH }, seq }, decision);
  store.run('UPDATE run SET applied = ?, driver = ? WHERE id = ?', seq, RUN_EVENTS.forked, id);
  const written = { epoch: FORK_EPOCH, at: store.clock.now(), answer: storedJson({ applied: seq, claims: [] }) };
  store.insert('application', { run_id: id, cursor: 0, seq, driver: RUN_EVENTS.forked, ...written });
  for (const { type, data } of copied.inputs) appendEvent(store, { stream: id, type, data });
  return requireRun(store, id);
}

/** A decision names messages by ids that are unique in the workspace, anywhere in its data. */
function withIds(decisions: NewFork['decisions'], ids: ReadonlyMap<string, string>): NewFork['decisions'] {
  if (ids.size === 0) return decisions;
  return JSON.parse(
    JSON.stringify(decisions).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}-\d+-\d+/g, (id) => ids.get(id) ?? id),
  ) as NewFork['decisions'];
}

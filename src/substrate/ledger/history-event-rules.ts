import { z } from 'zod';
import { isJsonObject } from '../../text/json.ts';
import { WORKSPACE_STREAM } from '../../model/ledger-event.ts';
import type { LedgerHistory } from './history.ts';
import { attemptOf, groupBy, ofType, violation, type Violation } from './history-tools.ts';

export function seqGaps({ events }: LedgerHistory): Violation[] {
  return events.flatMap((event, index) =>
    event.seq === index + 1 ? [] : [violation('seq-gap', `event ${event.seq} stands at place ${index + 1}`)],
  );
}

export function wrongCauses(history: LedgerHistory): Violation[] {
  const bySeq = new Map(history.events.map((event) => [event.seq, event]));
  return history.events.flatMap((event) => {
    if (event.cause === null) return [];
    const cause = bySeq.get(event.cause);
    if (cause === undefined)
      return [violation('cause-wrong', `event ${event.seq}: its cause ${event.cause} is missing`)];
    if (cause.seq >= event.seq)
      return [violation('cause-wrong', `event ${event.seq} comes before its cause ${cause.seq}`)];
    if (cause.cause !== null)
      return [violation('cause-wrong', `event ${event.seq}: its cause ${cause.seq} is a decision`)];
    if (cause.stream === event.stream || cause.stream === WORKSPACE_STREAM) return [];
    return [violation('cause-wrong', `event ${event.seq}: its cause ${cause.seq} belongs to ${cause.stream}`)];
  });
}

export function backwardEpochs({ events }: LedgerHistory): Violation[] {
  const newest = new Map<string, number>();
  return events.flatMap((event) => {
    if (event.epoch === null) return [];
    const before = newest.get(event.stream) ?? 0;
    newest.set(event.stream, Math.max(before, event.epoch));
    if (event.epoch >= before) return [];
    return [
      violation('epoch-backwards', `event ${event.seq} of ${event.stream}: epoch ${event.epoch} after ${before}`),
    ];
  });
}

export function rowsWithoutEvent(history: LedgerHistory): Violation[] {
  const bySeq = new Map(history.events.map((event) => [event.seq, event]));
  const rows = [
    ...history.attempts.map((row) => ({ seq: row.claimSeq, type: 'attempt-claimed', about: row.id })),
    ...history.settlements.map((row) => ({ seq: row.seq, type: 'attempt-settled', about: row.attemptId })),
    ...history.lateResults.map((row) => ({ seq: row.seq, type: 'late-result', about: row.attemptId })),
    ...history.observations.map((row) => ({ seq: row.seq, type: row.type, about: row.attemptId })),
    ...history.commands.map((row) => ({ seq: row.seq, type: 'operator-command', about: undefined })),
  ];
  return rows.flatMap(({ seq, type, about }) => {
    const event = bySeq.get(seq);
    if (event?.type === type && (about === undefined || attemptOf(event) === about)) return [];
    return [violation('row-without-event', `${type} of ${about ?? 'a command'}: event ${seq} does not say so`)];
  });
}

/** The steps of a run are one chain: each starts where the last one ended, and every decision belongs to one of them. */
export function appliedTwice(history: LedgerHistory): Violation[] {
  const byRun = groupBy(history.applications, (step) => step.runId);
  const chains = history.runs.flatMap((run) => {
    const found: Violation[] = [];
    const seen = new Set<string>();
    let at = 0;
    for (const step of byRun.get(run.id) ?? []) {
      const key = `${step.cursor} ${step.seq}`;
      if (step.cursor !== at || step.seq < step.cursor || seen.has(key)) {
        found.push(violation('applied-twice', `run ${run.id} at ${at}: a step from ${step.cursor} to ${step.seq}`));
      }
      seen.add(key);
      at = step.seq;
    }
    if (run.applied !== at)
      found.push(violation('applied-twice', `run ${run.id} says ${run.applied}, its steps ${at}`));
    return found;
  });
  const epochs = new Map<string, Set<number>>();
  for (const step of history.applications) {
    const key = `${step.runId} ${step.seq}`;
    epochs.set(key, (epochs.get(key) ?? new Set()).add(step.epoch));
  }
  const strays = history.events.flatMap((event) => {
    if (event.cause === null || event.epoch === null) return [];
    if (epochs.get(`${event.stream} ${event.cause}`)?.has(event.epoch) === true) return [];
    return [violation('applied-twice', `decision ${event.seq} belongs to no step of epoch ${event.epoch}`)];
  });
  return [...chains, ...strays];
}

const createdSchema = z.object({ name: z.string() });

/** Every run was made once, by its first event, and still has that name. */
export function differingRuns(history: LedgerHistory): Violation[] {
  const made = groupBy(ofType(history, 'run-created'), (event) => event.stream);
  const ids = new Set([...history.runs.map(({ id }) => id), ...made.keys()]);
  const names = new Map(history.runs.map(({ id, name }) => [id, name]));
  return [...ids].flatMap((id) => {
    const events = made.get(id) ?? [];
    const name = createdSchema.safeParse(events[0]?.data).data?.name;
    if (events.length === 1 && name !== undefined && names.get(id) === name) return [];
    return [violation('run-differs', `run ${id} is ${names.get(id) ?? 'gone'}; its events say ${name ?? 'nothing'}`)];
  });
}

export function recordVersions(history: LedgerHistory): Violation[] {
  const versions = new Map<string, number>();
  const found: Violation[] = [];
  for (const event of ofType(history, 'record-put')) {
    if (!isJsonObject(event.data)) continue;
    const { kind, id } = event.data;
    if (typeof kind !== 'string' || typeof id !== 'string') continue;
    const key = `${kind} ${id}`;
    const expected = (versions.get(key) ?? 0) + 1;
    versions.set(key, expected);
    if (event.data['version'] === expected) continue;
    found.push(violation('record-version', `record ${key}: event ${event.seq} is not version ${expected}`));
  }
  for (const row of history.records) {
    if (versions.get(`${row.kind} ${row.id}`) === row.version) continue;
    found.push(
      violation('record-version', `record ${row.kind} ${row.id} is version ${row.version}, its events differ`),
    );
  }
  return found;
}

import { z } from 'zod';
import { WORKSPACE_STREAM, type LedgerEvent } from '../../model/ledger-event.ts';
import { attemptOf, ofType, type LedgerHistory } from './history.ts';

function seqGaps({ events }: LedgerHistory): string[] {
  return events.flatMap((event, index) =>
    event.seq === index + 1 ? [] : [`event ${event.seq} is at place ${index + 1}`],
  );
}

function wrongCauses(history: LedgerHistory): string[] {
  const bySeq = new Map(history.events.map((event) => [event.seq, event]));
  return history.events.flatMap((event) => {
    if (event.cause === null) return [];
    const cause = bySeq.get(event.cause);
    if (cause === undefined) return [`event ${event.seq}: its cause ${event.cause} is missing`];
    if (cause.seq >= event.seq) return [`event ${event.seq} comes before its cause ${cause.seq}`];
    if (cause.cause !== null) return [`event ${event.seq}: its cause ${cause.seq} is a decision`];
    if (cause.stream === event.stream || cause.stream === WORKSPACE_STREAM) return [];
    return [`event ${event.seq}: its cause ${cause.seq} belongs to ${cause.stream}`];
  });
}

function backwardEpochs({ events }: LedgerHistory): string[] {
  const newest = new Map<string, number>();
  return events.flatMap((event) => {
    if (event.epoch === null) return [];
    const before = newest.get(event.stream) ?? 0;
    newest.set(event.stream, Math.max(before, event.epoch));
    if (event.epoch >= before) return [];
    return [`event ${event.seq} of ${event.stream}: epoch ${event.epoch} after ${before}`];
  });
}

function rowsWithoutEvent(history: LedgerHistory): string[] {
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
    return [`${type} of ${about ?? 'a command'}: event ${seq} does not say so`];
  });
}

/** Each step of a run starts where the last one ended, and every decision belongs to a step. */
function appliedTwice(history: LedgerHistory): string[] {
  const byRun = Map.groupBy(history.applications, (step) => step.runId);
  const chains = history.runs.flatMap((run) => {
    const found: string[] = [];
    const seen = new Set<string>();
    let at = 0;
    for (const step of byRun.get(run.id) ?? []) {
      const key = `${step.cursor} ${step.seq}`;
      if (step.cursor !== at || step.seq < step.cursor || seen.has(key)) {
        found.push(`run ${run.id} at ${at}: a step from ${step.cursor} to ${step.seq}`);
      }
      seen.add(key);
      at = step.seq;
    }
    if (run.applied !== at) found.push(`run ${run.id} is at ${run.applied}, its steps end at ${at}`);
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
    return [`decision ${event.seq} belongs to no step of epoch ${event.epoch}`];
  });
  return [...chains, ...strays];
}

const createdSchema = z.object({ name: z.string() });

/** One event created each run, and the run has that event's name. */
function differingRuns(history: LedgerHistory): string[] {
  const made = Map.groupBy(ofType(history, 'run-created'), (event) => event.stream);
  const ids = new Set([...history.runs.map(({ id }) => id), ...made.keys()]);
  const names = new Map(history.runs.map(({ id, name }) => [id, name]));
  return [...ids].flatMap((id) => {
    const events = made.get(id) ?? [];
    const name = createdSchema.safeParse(events[0]?.data).data?.name;
    if (events.length === 1 && name !== undefined && names.get(id) === name) return [];
    return [`run ${id} is ${names.get(id) ?? 'gone'}; its events say ${name ?? 'nothing'}`];
  });
}

const timerSetSchema = z.object({ id: z.string(), dueAt: z.number() });
const timerClearedSchema = z.object({ id: z.string() });
const timerFiredSchema = z.object({ id: z.string(), dueAt: z.number(), set: z.number() });

/** A clock may be set back within a transaction, but not by this much. */
const CLOCK_SLACK_MS = 2_000;

/** A timer fires at most once for each setting, and never early. It has a row until it fires or is cleared. */
function wrongTimers(history: LedgerHistory): string[] {
  const found: string[] = [];
  const set = new Map<string, { setSeq: number; dueAt: number }>();
  for (const event of history.events) {
    const key = (id: string): string => `${event.stream} ${id}`;
    const setting = event.type === 'timer-set' ? timerSetSchema.safeParse(event.data).data : undefined;
    const cleared = event.type === 'timer-cleared' ? timerClearedSchema.safeParse(event.data).data : undefined;
    if (setting !== undefined) set.set(key(setting.id), { setSeq: event.seq, dueAt: setting.dueAt });
    if (cleared !== undefined) set.delete(key(cleared.id));
    if (event.type !== 'timer-fired') continue;
    const fired = timerFiredSchema.safeParse(event.data).data;
    const problem = firedWrongly(event, fired, fired && set.get(key(fired.id)));
    if (problem !== undefined) found.push(`event ${event.seq}: ${problem}`);
    if (fired !== undefined) set.delete(key(fired.id));
  }
  const rows = new Map(history.timers.map((row) => [`${row.runId} ${row.id}`, row]));
  for (const key of new Set([...set.keys(), ...rows.keys()])) {
    const [wanted, row] = [set.get(key), rows.get(key)];
    if (wanted !== undefined && row?.setSeq === wanted.setSeq && row.dueAt === wanted.dueAt) continue;
    found.push(`timer ${key} is ${row === undefined ? 'lost' : 'not as its events set it'}`);
  }
  return found;
}

function firedWrongly(
  event: LedgerEvent,
  fired: z.infer<typeof timerFiredSchema> | undefined,
  set: { setSeq: number; dueAt: number } | undefined,
): string | undefined {
  if (fired === undefined) return 'it names no timer';
  if (set?.setSeq !== fired.set) return `timer ${fired.id} fired twice, or was never set`;
  if (event.at + CLOCK_SLACK_MS < set.dueAt) return `timer ${fired.id} fired before its time`;
  return undefined;
}

export const EVENT_RULES = {
  'seq-gap': seqGaps,
  'cause-wrong': wrongCauses,
  'epoch-backwards': backwardEpochs,
  'row-without-event': rowsWithoutEvent,
  'applied-twice': appliedTwice,
  'timer-wrong': wrongTimers,
  'run-differs': differingRuns,
};

import { z } from 'zod';
import { priorityRank } from '../model/priority.ts';
import { RUN_EVENTS, type Submission } from '../model/run.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { lastEnd } from './end-row.ts';

/** Part of a `RunView`. */
const endSchema = z.object({ run: z.object({ state: z.string() }) });
const droppedSchema = z.object({ dropped: z.literal(true) });

/** A run of the queue with its need, if it begins with the result of another one. */
export function withBefore<Found extends { readonly need: string; readonly why: string; readonly name: string }>(
  ledger: Ledger,
  found: Found,
  submitted: Pick<Submission, 'after'> | undefined,
): Found {
  if (found.need !== 'queued' || submitted?.after === undefined) return found;
  const before = ledger.run(submitted.after);
  if (before === undefined) return { ...found, need: 'held', why: 'the run that it waits for is gone' };
  const end = lastEnd(ledger, before);
  if (end === undefined && isDropped(ledger, before)) {
    const why = `${before.name}, which it waits for, is out of the queue: \`squad resume ${before.name}\` starts it`;
    return { ...found, need: 'held', why };
  }
  if (end === undefined) return { ...found, need: 'waits', why: `it waits for ${before.name}` };
  const { state } = endSchema.parse(end.data).run;
  if (state === 'done') return found;
  const why = `${before.name}, which it waits for, has ${state === 'cancelled' ? 'been cancelled' : 'failed'}: \`squad resume ${found.name}\` starts it from there all the same`;
  return { ...found, need: 'held', why };
}

/** Why a run of the queue cannot start before another one is over, or a person acts. undefined: it can. */
export function waitsForRun(
  ledger: Ledger,
  { name }: Pick<RunRow, 'name'>,
  submitted: Pick<Submission, 'after'> | undefined,
): string | undefined {
  const { need, why } = withBefore(ledger, { need: 'queued', why: '', name }, submitted);
  return need === 'queued' ? undefined : why;
}

/** A person took it out of the queue, and no engine has had it since. */
function isDropped(ledger: Ledger, { id }: Pick<RunRow, 'id'>): boolean {
  const refused = ledger.newest(id, [RUN_EVENTS.startRefused]);
  return droppedSchema.safeParse(refused?.data).success && ledger.segments(id).length === 0;
}

/** The record with the order that a person gave the queue. */
const ORDER = { kind: 'queue', id: 'order' } as const;
const orderSchema = z.array(z.string());

function orderIn(ledger: Pick<Ledger, 'record'>): { readonly version: number; readonly order: readonly string[] } {
  const found = ledger.record(ORDER.kind, ORDER.id);
  return { version: found?.version ?? 0, order: orderSchema.parse(found?.value ?? []) };
}

/** Those that a person has put in order come first, then the higher priority, then the older run. `all`: the oldest first. */
export function inOrder<Run extends { readonly runId: string }>(
  ledger: Pick<Ledger, 'record'>,
  all: readonly Run[],
  priorityOf: (run: Run) => string | undefined,
): Run[] {
  const { order } = orderIn(ledger);
  const place = ({ runId }: Run): number => (order.includes(runId) ? order.indexOf(runId) : order.length);
  const rank = (run: Run): number => priorityRank(priorityOf(run) ?? '') ?? 0;
  return all.toSorted((a, b) => place(a) - place(b) || rank(b) - rank(a));
}

/** Puts a queued run to a place (0: the first). False: another person was faster. */
export function moveInQueue(
  ledger: Pick<Ledger, 'record' | 'writeRecord'>,
  queue: readonly { readonly runId: string }[],
  runId: string,
  place: number,
): boolean {
  const { version } = orderIn(ledger);
  const others = queue.map((run) => run.runId).filter((id) => id !== runId);
  // Only those up to its place: what comes later keeps its order by priority.
  const before = others.slice(0, place);
  const order = place >= others.length ? [...others, runId] : [...before, runId];
  return ledger.writeRecord({ ...ORDER, value: order, after: version }) !== undefined;
}

import { z } from 'zod';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { LedgerHistory } from './history.ts';
import { groupBy, ofType, violation, type Violation } from './history-tools.ts';

const settledSchema = z.object({ attemptId: z.string(), messages: z.array(z.string()) });
const timerSetSchema = z.object({ id: z.string(), dueAt: z.number() });
const timerClearedSchema = z.object({ id: z.string() });
const timerFiredSchema = z.object({ id: z.string(), dueAt: z.number(), set: z.number() });

/** A clock may be put back between two looks of one transaction, but not by so much. */
const CLOCK_SLACK_MS = 2_000;

export function wrongMessages(history: LedgerHistory): Violation[] {
  const settled = new Map(history.settlements.map((row) => [row.attemptId, row.seq]));
  const runs = new Map(history.attempts.map((row) => [row.id, row.runId]));
  const seen = new Set<string>();
  return history.messages.flatMap((message) => {
    const { id, attemptId, seq, runId } = message;
    const wrong = seen.has(id) || settled.get(attemptId) !== seq || runs.get(attemptId) !== runId;
    seen.add(id);
    return wrong ? [violation('message-wrong', `message ${id} did not come once, with its settlement`)] : [];
  });
}

/** What a settlement says it sent is there, in that order; and nothing else is. Order per sender follows: seqs only grow. */
export function lostMessages(history: LedgerHistory): Violation[] {
  const rows = groupBy(history.messages, (message) => String(message.seq));
  return ofType(history, 'attempt-settled').flatMap((event) => {
    const told = settledSchema.safeParse(event.data).data;
    if (told === undefined) return [violation('message-lost', `event ${event.seq} does not say what was sent`)];
    const found = (rows.get(String(event.seq)) ?? []).toSorted((a, b) => a.place - b.place);
    const whole = found.every((row, index) => row.place === index && row.id === told.messages[index]);
    if (whole && found.length === told.messages.length) return [];
    const ids = found.map(({ id }) => id).join(', ');
    return [violation('message-lost', `event ${event.seq} sent ${told.messages.join(', ')}; there is ${ids}`)];
  });
}

/** Each setting of a timer fires once at most, never early; and what is neither fired nor cleared is still set. */
export function wrongTimers(history: LedgerHistory): Violation[] {
  const found: Violation[] = [];
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
    if (problem !== undefined) found.push(violation('timer-wrong', `event ${event.seq}: ${problem}`));
    if (fired !== undefined) set.delete(key(fired.id));
  }
  const rows = new Map(history.timers.map((row) => [`${row.runId} ${row.id}`, row]));
  for (const key of new Set([...set.keys(), ...rows.keys()])) {
    const [told, row] = [set.get(key), rows.get(key)];
    if (told !== undefined && row?.setSeq === told.setSeq && row.dueAt === told.dueAt) continue;
    found.push(violation('timer-wrong', `timer ${key} is ${row === undefined ? 'lost' : 'not what its events say'}`));
  }
  return found;
}

function firedWrongly(
  event: LedgerEvent,
  fired: z.infer<typeof timerFiredSchema> | undefined,
  set: { setSeq: number; dueAt: number } | undefined,
): string | undefined {
  if (fired === undefined) return 'it does not say which timer fired';
  if (set?.setSeq !== fired.set) return `timer ${fired.id} fired twice, or was never set`;
  if (event.at + CLOCK_SLACK_MS < set.dueAt) return `timer ${fired.id} fired before its time`;
  return undefined;
}

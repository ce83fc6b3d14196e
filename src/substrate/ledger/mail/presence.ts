import { BEAT_MS, ONLINE_MS } from '../../../model/mail/times.ts';
import type { Store } from '../store.ts';
import type { MailParty } from '../../ports/mailbox.ts';
import {
  isOnline,
  newReceiveClock,
  receivedAt,
  stepReceiveClock,
  type ReceiveClock,
  type ReceiveEvent,
} from './receive-clock.ts';

interface StoredReceiver {
  readonly address: string;
  readonly able: number;
  readonly able_until: number;
  readonly beat_until: number;
  readonly received_ms: number;
  readonly counted_at: number;
}

export interface Receiver {
  readonly address: string;
  readonly clock: ReceiveClock;
}

/** `due`: by its own clock, when the first of its letters has to have been read; null: none has to. */
export interface Awaited extends Receiver {
  readonly due: number | null;
}

const COLUMNS =
  'SELECT address, able, able_until, beat_until, received_ms, counted_at FROM mail_receiver WHERE run_id = ?';

export function readReceivers(store: Store, runId: string): Receiver[] {
  return store.db.prepare<[string], StoredReceiver>(`${COLUMNS} ORDER BY address`).all(runId).map(toReceiver);
}

/** In one look, because it is taken all the time. */
export function readAwaited(store: Store, runId: string): Awaited[] {
  const due = `SELECT min(due) FROM mail_delivery
    WHERE mail_delivery.run_id = mail_receiver.run_id AND recipient = address AND due IS NOT NULL`;
  return store.db
    .prepare<[string], StoredReceiver & { due: number | null }>(
      `SELECT address, able, able_until, beat_until, received_ms, counted_at, (${due}) AS due
       FROM mail_receiver WHERE run_id = ? ORDER BY address`,
    )
    .all(runId)
    .map((row) => ({ ...toReceiver(row), due: row.due }));
}

/** ms that this recipient could receive so far. */
export function receivedBy(store: Store, runId: string, address: string, now: number): number {
  const clock = readClock(store, runId, address);
  return clock === undefined ? 0 : receivedAt(clock, now);
}

/**
 * Within a write transaction: a reader is there. A turn reads its prompt, and what comes meanwhile only if it likes: it is
 * online, and yet no clock of an ack runs for that.
 */
export function recordBeat(store: Store, runId: string, address: string, by: MailParty['by']): void {
  step(store, runId, by === 'turn' ? turnAt(address) : address, 'beat');
}

/** Whether anybody of this address is there at `now`. */
export function isThere(receivers: readonly Receiver[], address: string, now: number): boolean {
  const own = [address, turnAt(address)];
  return receivers.some((one) => own.includes(one.address) && isOnline(one.clock, now));
}

/** No address, so that no letter waits for it. */
function turnAt(address: string): string {
  return `turn/${address}`;
}

/** Within a write transaction. Nothing is written for whom nothing changes. */
export function setAble(store: Store, runId: string, able: readonly string[]): void {
  for (const { address, clock } of readReceivers(store, runId)) {
    if (clock.able && !able.includes(address)) step(store, runId, address, 'unable');
  }
  for (const address of new Set(able)) {
    const clock = readClock(store, runId, address);
    if (clock?.able !== true || isStale(clock, store.clock.now())) step(store, runId, address, 'able');
  }
}

/** Whether `setAble` would change anything. */
export function isSettled(store: Store, runId: string, able: readonly string[]): boolean {
  const now = store.clock.now();
  const there = readReceivers(store, runId).filter(({ clock }) => clock.able);
  const fresh = there.filter(({ address, clock }) => able.includes(address) && !isStale(clock, now));
  return fresh.length === there.length && fresh.length === new Set(able).size;
}

/** Within the write that says that the engine lives: those it called able still are. */
export function renewReceivers(store: Store, runId: string): void {
  const now = store.clock.now();
  for (const { address, clock } of readReceivers(store, runId)) {
    if (clock.able && isStale(clock, now)) step(store, runId, address, 'renewed');
  }
}

/** Twice as often as would do. */
function isStale(clock: ReceiveClock, now: number): boolean {
  return Math.abs(clock.ableUntil - now - ONLINE_MS) >= BEAT_MS / 2;
}

function step(store: Store, runId: string, address: string, event: ReceiveEvent): void {
  const now = store.clock.now();
  const clock = stepReceiveClock(readClock(store, runId, address) ?? newReceiveClock(now), event, now);
  store.db
    .prepare(
      `INSERT INTO mail_receiver (run_id, address, able, able_until, beat_until, received_ms, counted_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (run_id, address) DO UPDATE SET able = excluded.able, able_until = excluded.able_until,
         beat_until = excluded.beat_until, received_ms = excluded.received_ms, counted_at = excluded.counted_at`,
    )
    .run(runId, address, Number(clock.able), clock.ableUntil, clock.beatUntil, clock.receivedMs, clock.countedAt);
}

function readClock(store: Store, runId: string, address: string): ReceiveClock | undefined {
  const row = store.db.prepare<[string, string], StoredReceiver>(`${COLUMNS} AND address = ?`).get(runId, address);
  return row === undefined ? undefined : toReceiver(row).clock;
}

function toReceiver(row: StoredReceiver): Receiver {
  return {
    address: row.address,
    clock: {
      able: row.able === 1,
      ableUntil: row.able_until,
      beatUntil: row.beat_until,
      receivedMs: row.received_ms,
      countedAt: row.counted_at,
    },
  };
}

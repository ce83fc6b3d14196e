import { BEAT_MS, ONLINE_MS } from '../../../model/mail/times.ts';
import type { MailPolicy } from '../../../model/mail/policy.ts';
import { appendEvent } from '../events.ts';
import type { Store } from '../store.ts';
import type { MailParty } from '../../ports/mailbox.ts';
import {
  isOnline,
  newReceiveClock,
  receivedAt,
  stepReceiveClock,
  type ReceiveClock,
  type ReceiveEvent,
} from './clocks.ts';
import { instanceOf } from './party.ts';
import { ensureSession, epochOf } from './session.ts';

interface StoredReceiver {
  readonly address: string;
  readonly able: number;
  readonly able_until: number;
  readonly beat_until: number;
  readonly received_ms: number;
  readonly counted_at: number;
}

interface Receiver {
  readonly address: string;
  readonly clock: ReceiveClock;
}

function readReceivers(store: Store, runId: string): Receiver[] {
  return store.db
    .prepare<[string], StoredReceiver>('SELECT * FROM mail_receiver WHERE run_id = ? ORDER BY address')
    .all(runId)
    .map(toReceiver);
}

/** `due`: when the recipient must have read its first message, by its own clock; null: it has none to read. */
interface Awaited extends Receiver {
  readonly due: number | null;
}

/** In one statement, because the engine calls this all the time. */
export function readAwaited(store: Store, runId: string): Awaited[] {
  const due = `SELECT min(due) FROM mail_delivery
    WHERE mail_delivery.run_id = mail_receiver.run_id AND recipient = address AND due IS NOT NULL`;
  return store.db
    .prepare<[string], StoredReceiver & { due: number | null }>(
      `SELECT *, (${due}) AS due FROM mail_receiver WHERE run_id = ? ORDER BY address`,
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
 * Within a write transaction: a reader is online. The beat of a turn does not run the clock of its address: a turn reads the mail
 * in its prompt, and need not read what arrives later.
 */
export function recordBeat(store: Store, party: MailParty, address: string): void {
  step(store, party.runId, party.by === 'turn' ? turnAt(address) : address, 'beat');
}

/** Within a write transaction: the protocol's `presence.register`, which is also the first beat. */
export function register(store: Store, party: MailParty, address: string, windowName: string | null): void {
  recordBeat(store, party, address);
  const meta = {
    role: address,
    session: ensureSession(store),
    epoch: epochOf(store),
    window_name: windowName,
    ts: store.clock.now(),
  };
  const data = { agent: instanceOf(store, party), meta };
  appendEvent(store, { stream: party.runId, type: 'mail-registered', data });
}

/** Members with a reader, a free agent, or a live turn, whose CLI may not have started its mail server yet. */
export function onlineAddresses(store: Store, runId: string, { members }: MailPolicy): ReadonlySet<string> {
  const now = store.clock.now();
  const seen = new Set(
    readReceivers(store, runId).flatMap(({ address, clock }) => (isOnline(clock, now) ? [address] : [])),
  );
  const working = new Set(
    store.db
      .prepare<[string], { agent: string }>(
        "SELECT agent FROM attempt WHERE run_id = ? AND status IN ('claimed', 'spawned') AND kind = 'turn'",
      )
      .all(runId)
      .map(({ agent }) => agent),
  );
  const online = members.filter(
    ({ address, agent }) => seen.has(address) || seen.has(turnAt(address)) || (agent !== null && working.has(agent)),
  );
  return new Set(online.map(({ address }) => address));
}

/** The row of an agent's turns. It is no address, so no message waits for it. */
function turnAt(address: string): string {
  return `turn/${address}`;
}

/** Within a write transaction. Writes only what changes. */
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

/** Within the write that renews the engine's lease: the recipients that it reported as able still are. */
export function renewReceivers(store: Store, runId: string): void {
  const now = store.clock.now();
  for (const { address, clock } of readReceivers(store, runId)) {
    if (clock.able && isStale(clock, now)) step(store, runId, address, 'renewed');
  }
}

/** Renewed after half the time, so that one missed renewal changes nothing. */
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
  const sql = 'SELECT * FROM mail_receiver WHERE run_id = ? AND address = ?';
  const row = store.db.prepare<[string, string], StoredReceiver>(sql).get(runId, address);
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

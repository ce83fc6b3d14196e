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

interface Receiver extends ReceiveClock {
  readonly address: string;
}

const RECEIVER = `address, able, able_until AS ableUntil, beat_until AS beatUntil, received_ms AS receivedMs,
  counted_at AS countedAt`;

function readReceivers(store: Store, runId: string): Receiver[] {
  return store.all<Receiver>(`SELECT ${RECEIVER} FROM mail_receiver WHERE run_id = ? ORDER BY address`, runId);
}

function readReceiver(store: Store, runId: string, address: string): Receiver | undefined {
  const sql = `SELECT ${RECEIVER} FROM mail_receiver WHERE run_id = ? AND address = ?`;
  return store.one<Receiver>(sql, runId, address);
}

/**
 * The receivers with `due`: when one must have read its first message, by its own clock; null: it has none to read. In one
 * statement, because the engine calls this all the time.
 */
export function readAwaited(store: Store, runId: string): (Receiver & { readonly due: number | null })[] {
  const due = `SELECT min(due) FROM mail_delivery
    WHERE mail_delivery.run_id = mail_receiver.run_id AND recipient = address AND due IS NOT NULL`;
  const sql = `SELECT ${RECEIVER}, (${due}) AS due FROM mail_receiver WHERE run_id = ? ORDER BY address`;
  return store.all<Receiver & { due: number | null }>(sql, runId);
}

/** ms that this recipient could receive so far. */
export function receivedBy(store: Store, runId: string, address: string): number {
  const receiver = readReceiver(store, runId, address);
  return receiver === undefined ? 0 : receivedAt(receiver, store.clock.now());
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
  const about = { session: ensureSession(store), epoch: epochOf(store), window_name: windowName };
  const data = { agent: instanceOf(store, party), meta: { role: address, ...about, ts: store.clock.now() } };
  appendEvent(store, { stream: party.runId, type: 'mail-registered', data });
}

/** Members with a reader, a free agent, or a live turn, whose CLI may not have started its mail server yet. */
export function onlineAddresses(store: Store, runId: string, { members }: MailPolicy): ReadonlySet<string> {
  const now = store.clock.now();
  const seen = new Set(readReceivers(store, runId).flatMap((one) => (isOnline(one, now) ? [one.address] : [])));
  const sql = "SELECT agent FROM attempt WHERE run_id = ? AND status IN ('claimed', 'spawned') AND kind = 'turn'";
  const working = new Set(store.all<{ agent: string }>(sql, runId).map(({ agent }) => agent));
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
  const { lost, renewed } = changesOf(store, runId, able);
  for (const address of lost) step(store, runId, address, 'unable');
  for (const address of renewed) step(store, runId, address, 'able');
}

/** Whether `setAble` would change nothing. */
export function isSettled(store: Store, runId: string, able: readonly string[]): boolean {
  const { lost, renewed } = changesOf(store, runId, able);
  return lost.length === 0 && renewed.length === 0;
}

function changesOf(store: Store, runId: string, able: readonly string[]): { lost: string[]; renewed: string[] } {
  const now = store.clock.now();
  const ableNow = readReceivers(store, runId).filter((receiver) => receiver.able === 1);
  const fresh = new Set(ableNow.filter((receiver) => !isStale(receiver, now)).map(({ address }) => address));
  return {
    lost: ableNow.flatMap(({ address }) => (able.includes(address) ? [] : [address])),
    renewed: [...new Set(able)].filter((address) => !fresh.has(address)),
  };
}

/** Within the write that renews the engine's lease: the recipients that it reported as able still are. */
export function renewReceivers(store: Store, runId: string): void {
  const now = store.clock.now();
  for (const receiver of readReceivers(store, runId)) {
    if (receiver.able === 1 && isStale(receiver, now)) step(store, runId, receiver.address, 'renewed');
  }
}

/** Renewed after half the time, so that one missed renewal changes nothing. */
function isStale(clock: ReceiveClock, now: number): boolean {
  return Math.abs(clock.ableUntil - now - ONLINE_MS) >= BEAT_MS / 2;
}

function step(store: Store, runId: string, address: string, event: ReceiveEvent): void {
  const now = store.clock.now();
  const clock = stepReceiveClock(readReceiver(store, runId, address) ?? newReceiveClock(now), event, now);
  const { able, ableUntil, beatUntil, receivedMs, countedAt } = clock;
  const online = { able, able_until: ableUntil, beat_until: beatUntil };
  const key = { run_id: runId, address };
  store.upsert('mail_receiver', key, { ...online, received_ms: receivedMs, counted_at: countedAt });
}

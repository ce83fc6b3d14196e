import { isSquadError, SquadError, usageError } from '../../model/errors.ts';
import { RUN_EVENTS, FORK_EPOCH } from '../../model/run.ts';
import { createMailbox } from './mail/index.ts';
import { renewReceivers, setAble } from './mail/presence.ts';
import { skipAbsence, startReading } from './mail/reading.ts';
import type { Ledger, LedgerPlace, NewFork, RunRow } from '../ports/ledger.ts';
import { apply, carryOut } from './apply.ts';
import { findAttempt, listAttempts, markSpawned, observe } from './attempts.ts';
import { appendEvent, lastSeq, newestEvent, readEvents, refuseLedgerType, refuseUnknownStream } from './events.ts';
import { claimCheck } from './claims.ts';
import { acquireLease, leaseSegments, releaseLease, renewLease, requireLease } from './leases.ts';
import { closeDb, type Db } from './open-db.ts';
import { createRun, findRun, listRuns, recordCommand, requireRun, submitRun } from './runs.ts';
import { findRecord, listRecords, writeRecord } from './records.ts';
import { readSettlement, settle } from './settle.ts';
import { readShared, readSpending, readTotals } from './spending.ts';
import { change, redactorOfRun, type Store, storedJson } from './store.ts';
import { dueTimers, fireTimer } from './timers.ts';
import { guarded, readSnapshot } from './transactions.ts';
import type { WorkspaceLock } from './workspace-lock.ts';
import { fstatSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { complete } from './backup.ts';
import { plainJson } from '../../text/json.ts';
import { copyMail } from './mail/copy-mail.ts';

/** The ledger over one open database. Each method is one transaction; the file of its subject implements it. */
export function createSqliteLedger(store: Store, directory: string, lock: WorkspaceLock | undefined): Ledger {
  const opened = identityAt(store.db.name) ?? '';
  return {
    ...writers(store, directory, lock),
    ...readers(store),
    writeRecord: (record) => change(store, () => writeRecord(store, record)),
    transact: (work) => change(store, work),
    submit: (run) => change(store, () => submitRun(store, run)),
    mail: createMailbox(store),
    place: () => placeOf(store.db, opened),
    writeBack: () => writeBack(store.db),
    close: () => closeDb(store.db),
  };
}

/** The clocks of what is in its prompt begin with it. */
function beginTurn(store: Store, ...[lease, attemptId, process, at]: Parameters<Ledger['markSpawned']>): void {
  markSpawned(store, lease, attemptId, process, at);
  startReading(store, attemptId);
}

function writers(store: Store, directory: string, lock: WorkspaceLock | undefined) {
  return {
    createRun: (run) => change(store, () => createRun(store, run)),
    fork: (fork) => change(store, () => forkRun(store, fork)),
    acquireLease: (runId, holder) => {
      requireLock(directory, lock);
      return change(store, () => {
        skipAbsence(store, runId);
        const lease = acquireLease(store, runId, holder);
        // The former engine's knowledge of who can receive mail is out of date.
        setAble(store, runId, []);
        return lease;
      });
    },
    renewLease: (lease, workedMs, seen) =>
      change(store, () => {
        renewLease(store, lease, workedMs, seen);
        renewReceivers(store, lease.runId);
      }),
    releaseLease: (lease, workedMs) =>
      change(store, () => {
        if (releaseLease(store, lease, workedMs)) setAble(store, lease.runId, []);
      }),
    apply: (input) => change(store, () => apply(store, input)),
    observe: (lease, attemptId, type, data) => change(store, () => observe(store, lease, attemptId, type, data)),
    markSpawned: (...spawned) => change(store, () => beginTurn(store, ...spawned)),
    settle: (lease, attemptId, result) => {
      const answer = change(store, () => settle(store, lease, attemptId, result));
      if (isSquadError(answer)) throw answer;
      return answer;
    },
    append: (stream, type, data) =>
      change(store, () => {
        refuseLedgerType(type);
        refuseUnknownStream(store, stream);
        return appendEvent(store, { stream, type, data });
      }),
    note: (lease, type, ...data) =>
      change(store, () => {
        requireLease(store, lease);
        refuseLedgerType(type);
        const seqs = data.map((one) => {
          // Preflight has already redacted the definition. A path in it may contain a known value, and has to stay usable.
          const clean = type === RUN_EVENTS.defined ? one : redactorOfRun(store, lease.runId).json(one);
          return appendEvent(store, { stream: lease.runId, type, epoch: lease.epoch, data: clean });
        });
        return Math.min(...seqs);
      }),
    claimCheck: (lease, attempt) =>
      change(store, () => {
        requireLease(store, lease);
        claimCheck(store, lease, attempt);
      }),
    command: (runId, verb, data, by, key) => {
      const clean = redactorOfRun(store, runId).json(data);
      return change(store, () => recordCommand(store, { runId, verb, data: clean, by }, key));
    },
    fireTimer: (lease, id) => change(store, () => fireTimer(store, lease, id)),
  } satisfies Partial<Ledger>;
}

function readers(store: Store) {
  const { db } = store;
  const read = <T>(work: () => T): T => guarded(db, work);
  return {
    run: (idOrName) => read(() => findRun(store, idOrName)),
    runs: () => read(() => listRuns(store)),
    segments: (runId) => read(() => leaseSegments(store, runId)),
    record: (kind, id) => read(() => findRecord(store, kind, id)),
    records: (kind) => read(() => listRecords(store, kind)),
    attempt: (id) => read(() => findAttempt(store, id)),
    attempts: (where) => read(() => listAttempts(store, where)),
    attemptStates: (runId) =>
      read(() => store.all('SELECT id, status FROM attempt WHERE run_id = ? ORDER BY claim_seq', runId)),
    settlement: (attemptId) => read(() => readSettlement(store, attemptId)),
    totals: (runId) => read(() => readTotals(store, runId)),
    spending: (runId, until) => read(() => readSpending(store, runId, until)),
    sharedUse: (engineSince) => read(() => readShared(store, engineSince)),
    events: (where) => read(() => readEvents(store, where)),
    snapshot: (work) => readSnapshot(db, work),
    newest: (stream, types) => read(() => newestEvent(store, stream, types)),
    lastSeq: (stream) => read(() => lastSeq(store, stream)),
    dueTimers: (now) => read(() => dueTimers(store, now)),
    dataVersion: () => read(() => store.value<number>('PRAGMA data_version') ?? 0),
  } satisfies Partial<Ledger>;
}

function requireLock(directory: string, lock: WorkspaceLock | undefined): void {
  if (lock !== undefined && lock.isHeld() && lock.directory === directory) return;
  throw new SquadError({
    code: 'workspace-busy',
    message: `${directory}: a run can only be driven by the process that holds the lock of this workspace.`,
    next: 'Open the ledger with the lock that `lockWorkspace` gives.',
  });
}

/** The file that a database was opened as, by what its path names now. SQLite itself does not notice that it was deleted. */
function placeOf(db: Db, opened: string): LedgerPlace {
  const now = identityAt(db.name);
  if (now === opened) return 'there';
  if (now !== undefined) return 'replaced';
  return hasNoName(opened) ? 'deleted' : 'moved';
}

/** `device:inode`; undefined: nothing is there. */
function identityAt(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}

/** The open files of this process. */
const DESCRIPTORS = process.platform === 'linux' ? '/proc/self/fd' : '/dev/fd';

/** Whether this process has the file open and no folder names it any more. */
function hasNoName(identity: string): boolean {
  for (const name of readdirSync(DESCRIPTORS)) {
    try {
      const { dev, ino, nlink } = fstatSync(Number(name), { bigint: true });
      if (`${dev}:${ino}` === identity) return nlink === 0n;
    } catch {
      // The descriptor of this listing itself is closed by now.
    }
  }
  return false;
}

/** Writes all that the database holds to its path again. Returns the path of the new file. */
function writeBack(db: Db): string {
  const path = db.name;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}.back`;
  rmSync(fresh, { force: true });
  db.prepare('VACUUM INTO ?').run(fresh);
  try {
    complete(fresh, path);
    return path;
  } catch (error) {
    // Another one is there by now. It may hold another engine's work.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const aside = `${path}.${Date.now()}.lost`;
    linkSync(fresh, aside);
    return aside;
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** In a write transaction. All that the parent had decided is one step of the fork, caused by its `run-forked` event. */
function forkRun(store: Store, { id, name, definition, forked, ...copied }: NewFork): RunRow {
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

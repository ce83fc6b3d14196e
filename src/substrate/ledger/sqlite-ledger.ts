import { isSquadError, SquadError } from '../../model/errors.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import { createMailbox } from './mail/index.ts';
import { renewReceivers, setAble } from './mail/presence.ts';
import { skipAbsence, startReading } from './mail/reading.ts';
import type { Ledger } from '../ports/ledger.ts';
import { apply } from './apply.ts';
import { findAttempt, listAttempts, markSpawned, observe } from './attempts.ts';
import { appendEvent, lastSeq, readEvents, refuseLedgerType, refuseUnknownStream } from './events.ts';
import { claimCheck } from './claims.ts';
import { acquireLease, leaseSegments, releaseLease, renewLease, requireLease } from './leases.ts';
import { forkRun } from './fork-run.ts';
import { closeDb } from './open-db.ts';
import { identityAt, placeOf, writeBack } from './place.ts';
import { createRun, findRun, listRuns, recordCommand } from './runs.ts';
import { readSettlement, settle } from './settle.ts';
import { readSpending, readTotals } from './spending.ts';
import { change, redactorOfRun, type Store } from './store.ts';
import { dueTimers, fireTimer } from './timers.ts';
import { guarded } from './transactions.ts';
import type { WorkspaceLock } from './workspace-lock.ts';

/** The ledger over one open database. Each method is one transaction; the file of its subject implements it. */
export function createSqliteLedger(store: Store, directory: string, lock: WorkspaceLock | undefined): Ledger {
  const opened = identityAt(store.db.name) ?? '';
  return {
    ...writers(store, directory, lock),
    ...readers(store),
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
    attempt: (id) => read(() => findAttempt(store, id)),
    attempts: (where) => read(() => listAttempts(store, where)),
    settlement: (attemptId) => read(() => readSettlement(store, attemptId)),
    totals: (runId) => read(() => readTotals(store, runId)),
    spending: (runId, until) => read(() => readSpending(store, runId, until)),
    events: (where) => read(() => readEvents(store, where)),
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

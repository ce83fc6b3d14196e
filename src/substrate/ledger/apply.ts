import { SquadError } from '../../model/errors.ts';
import { assertNever } from '../../model/assert-never.ts';
import { WORKSPACE_STREAM } from '../../model/ledger-event.ts';
import type { ApplyAnswer, ApplyInput, ClaimAnswer, Decision, RunRow } from '../ports/ledger.ts';
import { handMail, sendAsEngine } from './mail/engine-mail.ts';
import { claimAttempt } from './claims.ts';
import { appendEvent, refuseLedgerType } from './events.ts';
import { requireLease } from './leases.ts';
import { requireRun } from './runs.ts';
import { parseStored, storedJson, type Store } from './store.ts';
import { clearTimer, setTimer } from './timers.ts';

/**
 * Within a write transaction: one step of a run. Either the cursor is where the driver thinks it is, and everything is
 * written; or this very step was taken before, and its answer is given again; or nothing changes.
 */
export function apply(store: Store, input: ApplyInput): ApplyAnswer {
  requireLease(store, input.lease);
  const run = requireRun(store, input.lease.runId);
  const before = formerAnswer(store, run, input);
  if (before !== undefined) return { ...before, repeated: true };
  refuseCursor(store, run, input);
  const claims: ClaimAnswer[] = [];
  for (const decision of input.decisions) {
    const claim = carryOut(store, input, decision);
    if (claim !== undefined) claims.push(claim);
  }
  const answer = { applied: input.seq, claims };
  store.db.prepare('UPDATE run SET applied = ?, driver = ? WHERE id = ?').run(input.seq, input.driver, run.id);
  store.db
    .prepare('INSERT INTO application (run_id, cursor, seq, driver, epoch, at, answer) VALUES (?, ?, ?, ?, ?, ?, ?)')
    .run(
      run.id,
      input.cursor,
      input.seq,
      input.driver,
      input.lease.epoch,
      store.clock.now(),
      storedJson({ applied: answer.applied, claims: claims.map((claim) => ({ ...claim })) }),
    );
  return { ...answer, repeated: false };
}

/** The stored answer to this step, if the engine died before its next checkpoint. */
function formerAnswer(store: Store, run: RunRow, input: ApplyInput): Omit<ApplyAnswer, 'repeated'> | undefined {
  if (run.driver !== input.driver) return undefined;
  const row = store.db
    .prepare<[string, number, number, string], { answer: string }>(
      'SELECT answer FROM application WHERE run_id = ? AND cursor = ? AND seq = ? AND driver = ?',
    )
    .get(run.id, input.cursor, input.seq, input.driver);
  if (row === undefined) return undefined;
  return parseStored(store, row.answer, `answer ${input.seq} of run ${run.id}`) as unknown as Omit<
    ApplyAnswer,
    'repeated'
  >;
}

function refuseCursor(store: Store, run: RunRow, input: ApplyInput): void {
  if (input.cursor !== run.applied) {
    throw refused(run, `it is at event ${run.applied}, and this step starts at event ${input.cursor}`);
  }
  if (input.seq < input.cursor) throw refused(run, `event ${input.seq} lies before its cursor ${input.cursor}`);
  const event = store.db
    .prepare<[number], { stream: string; cause: number | null }>('SELECT stream, cause FROM event WHERE seq = ?')
    .get(input.seq);
  if (event === undefined) throw refused(run, `there is no event ${input.seq}`);
  if (event.cause !== null) throw refused(run, `event ${input.seq} is a decision, not an input`);
  if (event.stream !== run.id && event.stream !== WORKSPACE_STREAM) {
    throw refused(run, `event ${input.seq} belongs to run ${event.stream}`);
  }
  const taken = store.db
    .prepare('SELECT 1 FROM application WHERE run_id = ? AND cursor = ? AND seq = ?')
    .get(run.id, input.cursor, input.seq);
  if (taken !== undefined) throw refused(run, `event ${input.seq} is decided on`);
}

function refused(run: RunRow, why: string): SquadError {
  return new SquadError({
    code: 'cursor-refused',
    message: `Run ${run.name} refused a step: ${why}. Nothing was written.`,
    next: `Resume ${run.name}: that starts from what is on record (\`squad log ${run.name}\`).`,
  });
}

function carryOut(store: Store, input: ApplyInput, decision: Decision): ClaimAnswer | undefined {
  const { lease, seq: cause } = input;
  const event = { stream: lease.runId, cause, epoch: lease.epoch };
  switch (decision.do) {
    case 'record':
      refuseLedgerType(decision.type);
      appendEvent(store, { ...event, type: decision.type, data: decision.data });
      return undefined;
    case 'claim-attempt':
      return claimAttempt(store, lease, cause, decision);
    case 'set-timer':
      setTimer(store, event, decision);
      return undefined;
    case 'clear-timer':
      clearTimer(store, event, decision.id);
      return undefined;
    case 'send-mail':
      sendAsEngine(store, event, decision.key, decision.mail);
      return undefined;
    case 'hand-mail':
      handMail(store, lease.runId, decision.attemptId, decision.mail);
      return undefined;
    default:
      return assertNever(decision);
  }
}
